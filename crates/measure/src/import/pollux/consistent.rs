//! Whether validation runs agree with each other and with what they are said to be.

use super::runs::Run;
use crate::import::report::Report;
use scavsim_read::input::{Diagnostic, Diagnostics};

/// Beyond this share of the steps of a run it contradicts its own progress.
const WRONG: f64 = 0.05;
/// Beyond this share it is told.
const DOUBTFUL: f64 = 0.02;

/// Replays every run from its own pace, which batch and initial batch bound: a step at batch B makes the progress of one step at
/// M₀ at least and of B/M₀ at most. Runs that cannot be are mistakes.
pub(super) fn check(
    runs: &[Run],
    initial: u32,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) {
    for run in runs {
        let Some((error, steps, possible)) = off(run, initial) else {
            continue;
        };
        if error.abs() <= DOUBTFUL {
            continue;
        }
        let title = format!(
            "validation run at batch {}: {steps} steps, of which its progress allows {possible:.0} at an initial batch of {initial} ({:+.2} %)",
            run.batch,
            100.0 * error
        );
        let help = if run.batch == initial {
            "a step at the initial batch makes the progress of one step: is the run at the initial batch missing, or --initial-batch wrong?"
        } else {
            "a step at batch B makes the progress of 1 to B/M0 steps at the initial batch M0: is M0 another, or the file of another run?"
        };
        let told = Diagnostic::general(title).with_help(help);
        if error.abs() > WRONG {
            diagnostics.push(told)
        } else {
            report.warn(told)
        }
    }
}

/// By which share the steps of a run miss those that its progress allows; its steps, and those.
fn off(run: &Run, initial: u32) -> Option<(f64, f64, f64)> {
    let most = f64::from(run.batch) / f64::from(initial);
    let (low, high) = (most.min(1.0), most.max(1.0));
    let (mut before, mut possible) = ((0.0, 0.0), 0.0);
    for &(progress, steps, _) in &run.rows {
        let made = progress - before.0;
        let pace = made / (steps - before.1);
        possible += made / pace.clamp(low, high);
        before = (progress, steps);
    }
    let steps = run.rows.last()?.1;
    Some((possible / steps - 1.0, steps, possible))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(batch: u32, rows: &[(f64, f64)]) -> Run {
        Run {
            batch,
            name: format!("validation-{batch}"),
            rows: rows.iter().map(|&(p, i)| (p, i, None)).collect(),
        }
    }

    #[test]
    fn a_run_faster_than_its_batch_allows_cannot_be() {
        let error = |run: Run, initial| off(&run, initial).map(|o| o.0);
        // 100 steps of twice the batch make the progress of 100 to 200.
        assert_eq!(
            error(run(64, &[(90.0, 50.0), (150.0, 100.0)]), 32),
            Some(0.0)
        );
        assert_eq!(error(run(64, &[(300.0, 100.0)]), 32), Some(0.5));
        assert_eq!(error(run(64, &[(50.0, 100.0)]), 32), Some(-0.5));
        assert_eq!(
            error(run(32, &[(103.0, 100.0)]), 32),
            Some(0.030000000000000027)
        );
    }
}
