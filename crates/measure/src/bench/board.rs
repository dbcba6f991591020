//! A comparison of verified folders.

use std::io;

use super::submission::VerifiedSubmission;
use crate::compare::data::{DataRow, row, table};
use crate::compare::judge::{Verdict, judge};
use crate::compare::{Block, Tally};
use scavsim_base::stats::mean;
use scavsim_base::text::words::{or_dash, signed_percent};
use scavsim_base::text::{Column, Sheet};
use scavsim_search::search::Objective;

/// The results of all entries, over all blocks and in each.
#[derive(Clone)]
pub struct Board {
    /// All entries in each block, in the order of the folders.
    pub blocks: Vec<Block>,
    verdicts: Vec<Verdict>,
    folders: Vec<FolderFacts>,
    /// The best first: by mean rank over blocks, then in the order of the folders.
    order: Vec<usize>,
}

/// Facts about a folder on a leaderboard, other than figures.
#[derive(Clone)]
struct FolderFacts {
    strategy: String,
    tuned_on: String,
    checked: &'static str,
}

impl FolderFacts {
    fn new(own: &VerifiedSubmission) -> FolderFacts {
        FolderFacts {
            strategy: own.submission.strategy.clone(),
            tuned_on: own.submission.tuned_on.clone(),
            checked: if own.was_run_again {
                "run again"
            } else {
                "figures only"
            },
        }
    }
}

impl Board {
    /// The board of folders of one suite; `None` without any.
    pub fn from_verified(verified: &[VerifiedSubmission]) -> Option<Board> {
        let (first, rest) = verified.split_first()?;
        let mut blocks = first.blocks.clone();
        for other in rest {
            for (block, own) in blocks.iter_mut().zip(&other.blocks) {
                block.entries.extend(own.entries.iter().cloned());
            }
        }
        let verdicts: Vec<Verdict> = blocks.iter().map(judge).collect();
        let mut board = Board {
            blocks,
            verdicts,
            folders: verified.iter().map(FolderFacts::new).collect(),
            order: (0..verified.len()).collect(),
        };
        let ranks: Vec<f64> = board.order.iter().map(|&at| board.rank(at)).collect();
        (board.order).sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]).then(a.cmp(&b)));
        Some(board)
    }

    fn rank(&self, at: usize) -> f64 {
        let ranks = (self.verdicts.iter()).map(|verdict| verdict.standings[at].rank);
        mean(ranks).unwrap_or(f64::INFINITY)
    }

    fn name(&self, at: usize) -> &str {
        (self.blocks.first()).map_or("", |block| &block.entries[at].strategy)
    }

    /// Share of searches without a working result.
    fn failed(block: &Block, at: usize) -> f64 {
        block.entries[at].share(|tally: &Tally| tally.failed + tally.without)
    }

    /// The whole board as a sheet: mean ranks, and net overheads in the mean of each block.
    pub fn to_sheet(&self) -> Sheet<'_, usize> {
        let place = |at: &usize| {
            let place = self.order.iter().position(|own| own == at);
            place.map_or(String::new(), |place| (place + 1).to_string())
        };
        let mut columns = vec![
            Column::number("", place),
            Column::text("name", |at: &usize| self.name(*at).to_owned()),
            Column::text("strategy", |at: &usize| self.folders[*at].strategy.clone()).rank(5),
            Column::text("tuned on", |at: &usize| self.folders[*at].tuned_on.clone()).rank(2),
            Column::text("checked", |at: &usize| self.folders[*at].checked.to_owned()).rank(4),
            Column::number("rank", |at: &usize| format!("{:.2}", self.rank(*at))).rank(0),
        ];
        for (n, block) in self.blocks.iter().enumerate() {
            let head = format!("{} R {}", block.objective.name(), block.repeats);
            let net = |at: &usize| or_dash(block.entries[*at].mean(Tally::net).map(signed_percent));
            // The first of each objective is dropped last.
            let is_first = n == 0 || self.blocks[n - 1].objective != block.objective;
            columns.push(Column::number(head, net).rank(if is_first { 1 } else { 3 }));
        }
        let failed = |at: &usize| {
            let all = self.blocks.iter().map(|block| Board::failed(block, *at));
            scavsim_base::text::words::share(mean(all).unwrap_or(0.0))
        };
        columns.push(Column::number("fails", failed).rank(3));
        Sheet::new(self.order.clone(), columns)
    }

    /// The leaders, in a sentence per objective and number of runs.
    pub fn headlines(&self) -> Vec<String> {
        let each = self.blocks.iter().zip(&self.verdicts);
        each.map(|(block, verdict)| {
            let what = |objective: Objective| match block.repeats {
                1 => format!("{}, run once", objective.name()),
                repeats => format!("{}, run {repeats} times", objective.name()),
            };
            let what = what(block.objective);
            match verdict.best {
                None => format!("{what}: nobody has a figure everywhere."),
                Some(best) => {
                    let net = block.entries[best].mean(Tally::net).map(signed_percent);
                    let name = self.name(best);
                    format!(
                        "{what}: {name} leads, {} over the oracle in the mean.",
                        or_dash(net)
                    )
                }
            }
        })
        .collect()
    }

    /// The board as CSV: over all blocks, then for each.
    pub fn csv(&self) -> io::Result<String> {
        let mut rows = Vec::new();
        for (place, &at) in self.order.iter().enumerate() {
            let over = |of: fn(&Tally) -> Option<f64>| {
                mean((self.blocks.iter()).filter_map(|block| block.entries[at].mean(of)))
            };
            let failed = self.blocks.iter().map(|block| Board::failed(block, at));
            let figures = row! {
                net_mean: over(Tally::net),
                net_median: (),
                net_p90: (),
                regret_mean: over(Tally::regret),
                rank: self.rank(at),
                rank_low: (),
                rank_high: (),
                ratio_to_best: (),
                p: (),
                failed_share: mean(failed).unwrap_or(0.0),
            };
            rows.push(self.row(("all", None), place, at, figures));
        }
        for (block, verdict) in self.blocks.iter().zip(&self.verdicts) {
            for (place, &at) in verdict.order.iter().enumerate() {
                let (entry, standing) = (&block.entries[at], &verdict.standings[at]);
                let mut net = entry.net.clone();
                let figures = row! {
                    net_mean: entry.mean(Tally::net),
                    net_median: net.median(),
                    net_p90: net.quantile(0.9),
                    regret_mean: entry.mean(Tally::regret),
                    rank: standing.rank,
                    rank_low: standing.rank_interval.map(|i| i.low),
                    rank_high: standing.rank_interval.map(|i| i.high),
                    ratio_to_best: standing.against.map(|against| against.ratio),
                    p: standing.against.and_then(|against| against.p),
                    failed_share: Board::failed(block, at),
                };
                let key = (block.objective.name(), Some(block.repeats));
                rows.push(self.row(key, place, at, figures));
            }
        }
        table(rows.into_iter())
    }

    /// An entry in a block, or over all of them.
    fn row(&self, key: (&str, Option<u64>), place: usize, at: usize, figures: DataRow) -> DataRow {
        let folder = &self.folders[at];
        let entry = row! {
            objective: key.0,
            repeats: key.1,
            place: place + 1,
            name: self.name(at),
            strategy: folder.strategy,
            tuned_on: folder.tuned_on,
            checked: folder.checked,
        };
        [entry, figures].concat()
    }
}
