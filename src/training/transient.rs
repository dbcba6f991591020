//! Training while VMs are taken away: a loss stops the synchronous job until another VM is in its
//! place, and costs the work since the last checkpoint.

use super::checkpoint::Policy;
use super::job::Job;
use super::progress::{Advance, Event, Stalled};
use super::stepping::Stepping;
use super::sync::{Goal, bsp};
use super::{Fidelity, fast, step};
use crate::pricing::Phase;
use crate::rng::Stream;
use crate::units::{SECONDS_PER_HOUR, SimTime};

use super::spot::Keeps;

/// Losses after which a job is taken not to come to an end.
const MOST_LOSSES: u32 = 1_000_000;

/// Steps between two changes, and what came of them.
struct Piece {
    advance: Advance,
    steps: u64,
    /// The place of the mark among all steps asked for, if it was reached.
    marked: bool,
}

impl Job {
    /// Trains `steps` steps in `phase` through all losses, and notes when the first `mark` of them were
    /// there.
    ///
    /// Between two changes, the loss of a VM or a checkpoint, the steps are one stretch in the job's fidelity.
    ///
    /// # Errors
    /// [`Stalled`] when the losses leave no time to reach the end.
    pub(super) fn train_through_losses(
        &mut self,
        stepping: &Stepping,
        steps: u64,
        mark: u64,
        stream: &mut Stream,
    ) -> Result<Advance, Stalled> {
        let Some(lives) = &self.lives else {
            return Err(Stalled { at: self.now() });
        };
        let (spot, restore_s, phase) = (lives.spot.clone(), lives.restore_s, self.phase());
        let policy = spot.policy(lives.vms());
        let mut all = Advance::from(self.now());
        // Steps complete, and of them in a checkpoint; seconds since that.
        let (mut done, mut saved, mut unsaved_s) = (0, 0, 0.0);
        let mut is_marked = mark == 0;
        let mut losses = 0;
        while done < steps {
            let loss = self.next_loss();
            if loss > self.now() {
                let left = steps - done;
                let due = checkpoint_after(&policy, stepping, left);
                let goal = due.unwrap_or(left).min(left);
                let start = self.now();
                let wanted = mark.saturating_sub(done);
                let piece = self.piece(stepping, goal, wanted, loss, stream)?;
                all.compute_s += piece.advance.compute_s;
                all.communication_s += piece.advance.communication_s;
                done += piece.steps;
                unsaved_s += (self.now() - start).seconds();
                if !is_marked && piece.marked {
                    (is_marked, all.at_mark) = (true, piece.advance.at_mark);
                }
                if done == steps {
                    break;
                }
                if piece.steps == goal && self.now() + spot.write <= loss {
                    self.enter(Phase::Restoring);
                    self.wait(spot.write, Event::CheckpointWritten)?;
                    self.enter(phase);
                    (saved, unsaved_s) = (done, 0.0);
                    continue;
                }
                if self.now() < loss {
                    // Taken away while the checkpoint was being written.
                    self.enter(Phase::Restoring);
                    self.wait(loss - self.now(), Event::VmLost)?;
                    self.enter(phase);
                }
            }
            losses += 1;
            if losses > MOST_LOSSES {
                return Err(Stalled { at: self.now() });
            }
            if spot.keeps == Keeps::Checkpoint {
                self.relabel(phase, Phase::Lost, unsaved_s);
                done = saved;
            } else {
                saved = done;
            }
            unsaved_s = 0.0;
            self.replace_lost()?;
            let (restored, loss) = (
                self.now() + SimTime::from_seconds(restore_s),
                self.next_loss(),
            );
            if restored <= loss {
                self.restore(restore_s)?;
            } else if loss > self.now() {
                // Taken away again; the next round replaces it.
                self.enter(Phase::Restoring);
                self.wait(loss - self.now(), Event::VmLost)?;
            }
            self.enter(phase);
        }
        Ok(all)
    }

    /// Up to `goal` steps, fewer if `loss` comes before.
    fn piece(
        &mut self,
        stepping: &Stepping,
        goal: u64,
        mark: u64,
        loss: SimTime,
        stream: &mut Stream,
    ) -> Result<Piece, Stalled> {
        let mark = if mark <= goal { mark } else { 0 };
        let start = self.now();
        if self.fidelity() == Fidelity::Event {
            let goal = Goal {
                updates: goal,
                mark,
                until: loss,
            };
            let stretch = bsp::advance(&mut self.floor(stepping, stream), goal)?;
            return Ok(Piece {
                advance: stretch.advance,
                steps: stretch.updates,
                marked: mark > 0 && stretch.updates >= mark,
            });
        }
        let fast = self.fidelity() == Fidelity::Fast;
        let drift = self.drift();
        let before = drift.clone();
        let (mut advance, end, mut steps) = if fast {
            let (advance, end) = fast::advance(start, drift, stepping, goal, mark, stream);
            (advance, end, goal)
        } else {
            step::advance_until(start, drift, stepping, goal, mark, loss, stream)
        };
        if end <= loss {
            self.wait(end - start, Event::StepsDone)?;
        } else if fast {
            // Where a walk of `goal` steps that ends at a known time was before: its bridge.
            *drift = before;
            let n = goal as f64;
            let share = (loss - start).seconds() / (end - start).seconds();
            let deviation =
                stepping.worker_s * stepping.slowest.deviation / stepping.mean_step_s(1.0);
            let spread = deviation * (n * share * (1.0 - share)).sqrt() * stream.normal();
            steps = (n * share + spread).floor().clamp(0.0, n - 1.0) as u64;
            advance.compute_s *= share;
            advance.communication_s *= share;
            advance.at_mark = advance.at_mark.min(loss);
            self.wait(loss - start, Event::VmLost)?;
        } else {
            self.wait(loss - start, Event::VmLost)?;
        }
        Ok(Piece {
            advance,
            steps,
            marked: mark > 0 && steps >= mark,
        })
    }

    /// Another VM in the place of every one that is lost by now; ends when all run.
    fn replace_lost(&mut self) -> Result<(), Stalled> {
        let Some(lives) = &self.lives else {
            return Ok(());
        };
        let (spot, vms) = (lives.spot.clone(), lives.vms());
        self.enter(Phase::Waiting);
        self.drop_lost();
        let ready = self.now() + spot.replacement;
        self.hold_again(vms, ready);
        self.wait(spot.replacement, Event::VmsReady)
    }
}

/// Steps until a checkpoint is due, if one is, with `left` steps to go.
fn checkpoint_after(policy: &Policy, stepping: &Stepping, left: u64) -> Option<u64> {
    let step_h = stepping.mean_step_s(1.0) / SECONDS_PER_HOUR;
    let work_h = policy.next_h(left as f64 * step_h, 0.0)?;
    Some((work_h / step_h).ceil().max(1.0) as u64)
}
