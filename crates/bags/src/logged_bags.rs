//! 24 logged bags of molecular-dynamics jobs on preemptible VMs: facts from the public logs of HPDC 2020,
//! `data/bags/README.md`.

use std::sync::{Arc, LazyLock};

use crate::Notice;

const BLOCKED: &str = include_str!("../../../data/bags/blocked.csv");

/// Seconds that each of 40 lost attempts kept its slot: 317 to 1,051, 677 in the mean.
pub fn blocked_s() -> Arc<[f64]> {
    static READ: LazyLock<Arc<[f64]>> = LazyLock::new(|| {
        // Comments and the header are no numbers.
        let lines = BLOCKED.lines().map(str::trim);
        lines.filter_map(|line| line.parse().ok()).collect()
    });
    Arc::clone(&READ)
}

pub fn notice() -> Notice {
    Notice::AfterStart(blocked_s())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bag, BagJob, BagRunSpec, BagSize, Loss, Reuse, formula};
    use scavsim_base::rng::{Streams, UnitLogNormal, VmTypeKey};
    use scavsim_base::tests::near;
    use scavsim_base::units::SimTime;
    use scavsim_data::cloud::lifetimes::{Kind, Lifetime, Model};
    use scavsim_data::usage::Phase;
    use scavsim_engine::Interrupt;
    use scavsim_sim::cluster::{Losses, Pause};
    use scavsim_sim::training::log::{Entry, Fate, LogEvent};

    const LOGGED: &str = include_str!("../../../data/bags/logged.csv");
    const SIZES: &str = include_str!("../../../data/bags/sizes.csv");

    fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        lines.map(|line| line.split(',').collect())
    }

    struct LoggedBag {
        name: String,
        vms: u32,
        parallel: u32,
        finished: u32,
        lost: u32,
        job_s: f64,
        span_s: f64,
    }

    fn logged() -> Vec<LoggedBag> {
        let numbers = |row: Vec<&str>| -> Vec<f64> {
            let cells = row[2..8].iter();
            cells.map(|cell| cell.parse().expect(cell)).collect()
        };
        let read = |row: Vec<&str>| {
            let name = row[0].to_owned();
            let own = numbers(row);
            LoggedBag {
                name,
                vms: own[0] as u32,
                parallel: own[1] as u32,
                finished: own[2] as u32,
                lost: own[3] as u32,
                job_s: own[4],
                span_s: own[5],
            }
        };
        rows(LOGGED).map(read).collect()
    }

    fn size(vms_per_job: u32, parallel_jobs: u32, job_s: f64) -> BagSize {
        BagSize {
            vm: 0,
            vms_per_job,
            parallel_jobs,
            job_s,
            life: None,
            vm_key: VmTypeKey::from_name("n1-highcpu-32"),
        }
    }

    /// As the logs state it: 18 s between the jobs of a slot, nine of ten jobs that were submitted suffice (36 for 32, 112 for
    /// 100), jobs that vary by 3 %, and notice as logged. VMs were there before the first job.
    fn bag(finished: u32, loss: Loss) -> Bag {
        let seconds = SimTime::from_seconds;
        Bag {
            jobs: if finished > 100 {
                112
            } else {
                finished.max(36)
            },
            needed: finished,
            job_time: UnitLogNormal::from_cv(0.03),
            dispatch_lag: seconds(18.0),
            start_stagger: seconds(8.0),
            rerun: true,
            reuse: Reuse::ByAge,
            keep_spares: seconds(3600.0),
            first_boot: Pause::NONE,
            boot: Pause::NONE,
            notice: notice(),
            loss,
            surrogate: None,
        }
    }

    fn runs(bag: &Bag, size: &BagSize, count: u64) -> (f64, Vec<u32>) {
        let streams = Streams::new(2020);
        let (mut sum_s, mut lost) = (0.0, Vec::new());
        for replica in 0..count {
            let mut job = BagJob::new(bag, "logged", &streams, replica, &Interrupt::NEVER);
            job.log = Some(Vec::new());
            let of = BagRunSpec {
                bag,
                size,
                on_spot: true,
                head: None,
                phase: Phase::Training,
            };
            let whole = (bag.needed, SimTime::LAST);
            let ended = job.run(of, whole);
            ended.expect("it ends");
            sum_s += job.now.seconds();
            let given_up = |entry: &&Entry| {
                entry.what == LogEvent::Compute(Fate::GivenUp) && entry.until < job.now
            };
            let log = job.log.take().unwrap_or_default();
            lost.push(log.iter().filter(given_up).count() as u32);
        }
        (sum_s / count as f64, lost)
    }

    #[test]
    fn the_logged_notice_is_what_the_paper_says() {
        let all = blocked_s();
        assert_eq!(all.len(), 40);
        let mean = all.iter().sum::<f64>() / 40.0;
        near(mean, 677.0, 0.5);
        near(
            all.iter().fold(f64::MAX, |a, s| a.min(*s)) / 60.0,
            5.3,
            0.05,
        );
        near(
            all.iter().fold(0.0, |a: f64, s| a.max(*s)) / 60.0,
            17.5,
            0.05,
        );
    }

    /// Spans of all 24 bags, given the mean job time and the number of losses of each.
    #[test]
    fn the_spans_of_24_logged_bags_come_back() {
        let mut errors = Vec::new();
        for own in logged() {
            let bag = bag(own.finished, Loss::Attempts(own.lost));
            let (span_s, lost) = runs(&bag, &size(own.vms, own.parallel, own.job_s), 400);
            let off = span_s / own.span_s - 1.0;
            let lost = f64::from(lost.iter().sum::<u32>()) / 400.0;
            // The last attempts may be lost when the bag is done.
            assert!(lost <= f64::from(own.lost) && lost > 0.85 * f64::from(own.lost) - 1e-9);
            errors.push(off.abs());
            // The spans that the paper prints.
            let name = &own.name;
            if (name.ends_with("-100") || name.ends_with("-2x4")) && !name.contains("-8-") {
                assert!(off.abs() < 0.03, "{name}: {off}");
            }
        }
        errors.sort_by(f64::total_cmp);
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert_eq!(errors.len(), 24);
        assert!(mean < 0.03 && errors[23] < 0.07);
    }

    /// Seven bags of one shape with 0 to 15 losses: what a loss adds to the span.
    #[test]
    fn a_loss_adds_a_thirtieth_of_the_span() {
        let slope = |span_s: &dyn Fn(&LoggedBag) -> f64| {
            let mut all = logged();
            let is_it =
                |name: &str| name.starts_with("confinement-lost") || name == "confinement-4x4";
            all.retain(|own| is_it(&own.name));
            let points = all.iter().map(|own| (f64::from(own.lost), span_s(own)));
            let points: Vec<(f64, f64)> = points.collect();
            assert_eq!(points.len(), 7);
            let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / 7.0;
            let (x, y) = (mean(|p| p.0), mean(|p| p.1));
            let rise: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
            let run: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
            rise / run / (y - rise / run * x)
        };
        let measured = slope(&|own| own.span_s);
        let model = slope(&|own| {
            let bag = bag(own.finished, Loss::Attempts(own.lost));
            runs(&bag, &size(own.vms, own.parallel, own.job_s), 400).0
        });
        near(measured, 0.033, 0.001);
        near(model, 0.033, 0.005);
    }

    fn counted(vcpus: u32) -> Lifetime {
        let model = Model::named(&format!("gcp-2019-highcpu-{vcpus}"));
        match &model.expect("it is there").kind {
            Kind::Alone(life) => life.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Bags on new VMs with the lives that the same authors counted: where the logged numbers of losses lie. Seven bags of this
    /// shape lost 0 to 15 attempts, 6 in the median.
    #[test]
    fn losses_by_the_counted_lives_are_as_many_as_were_logged() {
        let bag = bag(36, Loss::Preemption(Losses::Alone(counted(32))));
        let (_, mut lost) = runs(&bag, &size(4, 4, 697.4), 2_000);
        lost.sort_unstable();
        let up_to = |most: u32| lost.iter().filter(|n| **n <= most).count() as f64 / 2000.0;
        assert!((2..=9).contains(&lost[1000]));
        assert!(up_to(0) < 0.2 && up_to(15) > 0.95);
    }

    /// E[C] of a job on 64 vCPUs at prices by the vCPU: VMs of 32 are cheapest of the sizes whose lives were counted.
    #[test]
    fn vms_of_32_vcpus_are_the_cheapest_for_confinement() {
        for column in [2, 3] {
            let mut costs: Vec<(f64, u32)> = rows(SIZES)
                .filter_map(|row| {
                    let vcpus: u32 = row[0].rsplit('-').next()?.parse().ok()?;
                    let vms: u32 = row[1].parse().ok()?;
                    // Nobody counted lives of the largest.
                    if vcpus == 64 {
                        return None;
                    }
                    let mut own = size(vms, 1, row[column].parse().ok()?);
                    own.life = Some(counted(vcpus));
                    let expected_s = formula::expected_job_s(&bag(36, Loss::Never), &own)?;
                    let usd = formula::expected_usd(0.0075 * f64::from(vcpus), vms, expected_s);
                    Some((usd, vcpus))
                })
                .collect();
            costs.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!((costs.len(), costs[0].1), (4, 32));
        }
    }
}
