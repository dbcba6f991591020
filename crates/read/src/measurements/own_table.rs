//! Custom tables with common column names: rates instead of times, milliseconds, batches of each worker, accumulation, nodes.

use super::steps::{MeasurementFile, Recognised, RunFacts, TableResult, shape};
use super::words::{Cells, Rate, Role, role, seconds_with_unit};
use crate::input::{Diagnostic, Source};

/// Columns of the table that is written, in order.
const WRITTEN: &[&str] = &[
    "vm",
    "workers",
    "batch",
    "step_s",
    "compute_s",
    "communication_s",
    "noise",
    "epochs",
];

pub(super) fn read(file: &MeasurementFile<'_>, facts: &RunFacts<'_>) -> Option<TableResult> {
    let cells = file.cells.as_ref()?;
    let roles: Vec<Option<Role>> = cells.header.iter().map(|name| role(name)).collect();
    let is_written = |(name, role): (&String, &Option<Role>)| {
        *role
            == WRITTEN
                .iter()
                .find(|own| *own == name)
                .map(|own| Role::Column(own))
    };
    let fills = (facts.vm.is_some() && !roles.contains(&Some(Role::Column("vm"))))
        || (facts.workers.is_some() && !has_workers(&roles));
    let is_seconds =
        |role: &Option<Role>| matches!(role, Some(Role::Column(name)) if name.ends_with("_s"));
    let has_units = (cells.rows.iter()).any(|(_, row)| {
        let timed = row.iter().zip(&roles).filter(|(_, role)| is_seconds(role));
        timed
            .map(|(cell, _)| cell)
            .any(|cell| seconds_with_unit(cell).is_some())
    });
    let is_plain = !fills
        && !has_units
        && (cells.header.iter().zip(&roles)).all(|pair| is_written(pair) || pair.1.is_none());
    // A table without times has no measurements, and a repeated column is a mistake of its own.
    let measures = roles.iter().flatten().any(is_time);
    let repeats = (roles.iter().enumerate()).any(|(at, role)| {
        role.is_some() && *role != Some(Role::Ignored) && roles[..at].contains(role)
    });
    if !measures || repeats {
        return None;
    }
    let table = OwnTable {
        cells,
        roles,
        facts,
        has_units,
    };
    if let Some(mistake) = table.lacks_facts(file.source) {
        return Some(Err(mistake));
    }
    (!is_plain).then(|| table.rewrite(file.source))
}

fn has_workers(roles: &[Option<Role>]) -> bool {
    [Role::Column("workers"), Role::Gpus, Role::Nodes]
        .iter()
        .any(|role| roles.contains(&Some(*role)))
}

fn is_time(role: &Role) -> bool {
    matches!(
        role,
        Role::Column("step_s")
            | Role::StepTime(_)
            | Role::EpochTime(_)
            | Role::Steps(_)
            | Role::Samples(_)
            | Role::Tokens(_)
    )
}

struct OwnTable<'t> {
    cells: &'t Cells,
    roles: Vec<Option<Role>>,
    facts: &'t RunFacts<'t>,
    /// Whether cells of times have units.
    has_units: bool,
}

impl OwnTable<'_> {
    fn has(&self, role: Role) -> bool {
        self.roles.contains(&Some(role))
    }

    /// Facts of the runs that neither a column nor an option gives.
    fn lacks_facts(&self, source: &Source) -> Option<Diagnostic> {
        let facts = [
            ("vm", "--vm"),
            ("workers", "--workers"),
            ("batch", "--batch-size"),
        ];
        let lacks = facts.into_iter().filter(|(name, _)| !self.writes(name));
        let (columns, options): (Vec<&str>, Vec<&str>) = lacks.unzip();
        if columns.is_empty() || self.roles.contains(&None) {
            return None;
        }
        let title = format!(
            "{}: no column says `{}`",
            source.name,
            columns.join("` or `")
        );
        let help = format!(
            "add such columns, or give {} for all rows",
            options.join(" and ")
        );
        Some(Diagnostic::general(title).with_help(help))
    }

    /// The missing input of a formula, with advice.
    fn missing(&self) -> Option<String> {
        let has_tokens = self
            .roles
            .iter()
            .flatten()
            .any(|role| matches!(role, Role::Tokens(_)));
        let has_epochs = self
            .roles
            .iter()
            .flatten()
            .any(|role| matches!(role, Role::EpochTime(_)));
        if has_tokens && !self.has(Role::Sequence) && self.facts.sequence.is_none() {
            return Some(
                "tokens per second need a column `sequence`: tokens of a sample".to_owned(),
            );
        }
        let counts_vms = self.has(Role::Nodes) && !self.has(Role::GpusPerNode);
        let counts_workers = self.has(Role::Gpus) || self.has(Role::Column("workers"));
        if counts_vms && !counts_workers && self.facts.workers.is_some() {
            return Some(
                "a column counts VMs, each with all GPUs of its type: leave --workers out"
                    .to_owned(),
            );
        }
        let is_open = |(_, row): &(usize, Vec<String>)| {
            self.number(row, Role::Nodes).is_some() && self.workers(row).is_none()
        };
        if self.cells.rows.iter().any(is_open) {
            return Some(
                "a column counts VMs, and how many GPUs one has is not known: add a column `gpus_per_node`"
                    .to_owned(),
            );
        }
        if has_epochs && self.facts.samples_per_epoch.is_none() {
            return Some("times of epochs need --samples-per-epoch".to_owned());
        }
        None
    }

    fn rewrite(&self, source: &Source) -> TableResult {
        if let Some(why) = self.missing() {
            return Err(Diagnostic::general(format!("{}: {why}", source.name)));
        }
        let unknown: Vec<&String> = (self.cells.header.iter().zip(&self.roles))
            .filter_map(|(name, role)| role.is_none().then_some(name))
            .collect();
        let names: Vec<&str> = WRITTEN
            .iter()
            .copied()
            .filter(|name| self.writes(name))
            .collect();
        let header = names.iter().map(|name| (*name).to_owned());
        let kept = unknown.iter().map(|name| quoted(name));
        let lines = 1 + self
            .cells
            .rows
            .last()
            .map_or(self.cells.header_line, |(line, _)| *line);
        let mut text = vec!["#".to_owned(); lines];
        text[self.cells.header_line] = header.chain(kept).collect::<Vec<_>>().join(",");
        for (line, row) in &self.cells.rows {
            text[*line] = self.row(row, &names);
        }
        let read: Vec<String> = (self.cells.header.iter().zip(&self.roles))
            .filter_map(|(name, role)| Some(format!("{name} ({})", meaning(*role.as_ref()?)?)))
            .collect();
        Ok(Recognised {
            table: Source::new(source.name.clone(), text.join("\n") + "\n"),
            sentence: (!read.is_empty())
                .then(|| format!("columns are read as {}", read.join(", "))),
            says_batch: self.has(Role::GlobalBatch) || self.has(Role::LocalBatch),
            says_unit: self.has_units || !self.has(Role::Column("step_s")),
        })
    }

    fn writes(&self, name: &'static str) -> bool {
        let given = self.has(Role::Column(name));
        match name {
            "vm" => given || self.facts.vm.is_some(),
            "workers" => has_workers(&self.roles) || self.facts.workers.is_some(),
            "batch" => {
                given
                    || self.has(Role::GlobalBatch)
                    || self.has(Role::LocalBatch)
                    || self.facts.batch.is_some()
            }
            "step_s" => self.roles.iter().flatten().any(is_time),
            _ => given,
        }
    }

    fn cell<'r>(&self, row: &'r [String], role: Role) -> Option<&'r str> {
        let place = self.roles.iter().position(|own| *own == Some(role))?;
        row.get(place).map(String::as_str)
    }

    fn number(&self, row: &[String], role: Role) -> Option<f64> {
        self.parsed(self.cell(row, role)?)
    }

    /// A number; with a decimal comma unless commas separate cells.
    fn parsed(&self, text: &str) -> Option<f64> {
        match self.cells.delimiter {
            b',' => text.parse().ok(),
            _ => text.replace(',', ".").parse().ok(),
        }
    }

    /// Seconds of a cell with a unit.
    fn seconds(&self, cell: &str) -> Option<f64> {
        let (number, unit_s) = seconds_with_unit(cell)?;
        Some(self.parsed(number)? * unit_s)
    }

    fn row(&self, row: &[String], names: &[&str]) -> String {
        if row.len() != self.cells.header.len() {
            // Its length is reported by the reader of the table.
            return row
                .iter()
                .map(|cell| quoted(cell))
                .collect::<Vec<_>>()
                .join(",");
        }
        let workers = self.workers(row);
        let batch = self.batch(row, workers);
        let written = names.iter().map(|name| {
            let value = match *name {
                "vm" => return quoted(&self.vm(row, workers)),
                "workers" => workers,
                "batch" => batch,
                "step_s" => self.step_s(row, workers, batch),
                other => {
                    let role = WRITTEN
                        .iter()
                        .find(|own| *own == name)
                        .map(|own| Role::Column(own));
                    let cell = role
                        .and_then(|role| self.cell(row, role))
                        .unwrap_or_default();
                    let with_unit = || self.seconds(cell).filter(|_| other.ends_with("_s"));
                    return match self.parsed(cell).or_else(with_unit) {
                        Some(number) if other != "vm" => number.to_string(),
                        _ => quoted(cell),
                    };
                }
            };
            value.map_or_else(|| self.unread(row, name), |number| number.to_string())
        });
        let unknown = (row.iter().zip(&self.roles)).filter(|(_, role)| role.is_none());
        let kept = unknown.map(|(cell, _)| quoted(cell));
        written.chain(kept).collect::<Vec<_>>().join(",")
    }

    /// The cell of a value that could not be read, quoted in the message.
    fn unread(&self, row: &[String], name: &str) -> String {
        let is_behind = |role: &Role| match name {
            "workers" => matches!(
                role,
                Role::Column("workers") | Role::Gpus | Role::Nodes | Role::GpusPerNode
            ),
            "batch" => matches!(
                role,
                Role::Column("batch") | Role::GlobalBatch | Role::LocalBatch | Role::Accumulation
            ),
            _ => is_time(role) || *role == Role::Sequence,
        };
        let cells = row
            .iter()
            .zip(&self.roles)
            .filter(|(_, role)| role.as_ref().is_some_and(is_behind));
        let mut wrong =
            cells.filter(|(cell, _)| self.parsed(cell).is_none_or(|number| number <= 0.0));
        wrong
            .next()
            .map_or_else(String::new, |(cell, _)| quoted(cell))
    }

    fn workers(&self, row: &[String]) -> Option<f64> {
        let nodes = self
            .number(row, Role::Nodes)
            .zip(self.number(row, Role::GpusPerNode));
        let of_vms = || {
            let vm = self.cell(row, Role::Column("vm")).or(self.facts.vm)?;
            let gpus = self.facts.gpus_of.and_then(|gpus_of| gpus_of(vm))?;
            Some(self.number(row, Role::Nodes)? * f64::from(gpus.max(1)))
        };
        self.number(row, Role::Column("workers"))
            .or_else(|| self.number(row, Role::Gpus))
            .or_else(|| nodes.map(|(nodes, each)| nodes * each))
            .or_else(|| self.facts.workers.map(f64::from))
            .or_else(of_vms)
    }

    fn vm(&self, row: &[String], workers: Option<f64>) -> String {
        let vm = self
            .cell(row, Role::Column("vm"))
            .or(self.facts.vm)
            .unwrap_or_default();
        let by_nodes = workers
            .zip(self.number(row, Role::Nodes))
            .map(|(workers, nodes)| workers / nodes);
        let each = self.number(row, Role::GpusPerNode).or(by_nodes);
        match each {
            Some(each)
                if each > 1.0 && each.fract() == 0.0 && !vm.contains('/') && !vm.is_empty() =>
            {
                format!("{vm}/{each}")
            }
            Some(_) => vm.to_owned(),
            None if self.has(Role::Gpus) => {
                shape(vm, workers.map_or(1, |workers| workers as u32), self.facts)
            }
            None => vm.to_owned(),
        }
    }

    fn batch(&self, row: &[String], workers: Option<f64>) -> Option<f64> {
        let accumulated = if self.has(Role::Accumulation) {
            self.number(row, Role::Accumulation)?
        } else {
            1.0
        };
        let local = || Some(self.number(row, Role::LocalBatch)? * workers? * accumulated);
        let plain = || Some(self.number(row, Role::Column("batch"))? * accumulated);
        self.number(row, Role::GlobalBatch)
            .or_else(local)
            .or_else(plain)
            .or_else(|| self.facts.batch.map(f64::from))
    }

    fn step_s(&self, row: &[String], workers: Option<f64>, batch: Option<f64>) -> Option<f64> {
        let (at, role) = (self.roles.iter().enumerate())
            .filter_map(|(at, role)| Some((at, role.filter(is_time)?)))
            .next()?;
        let cell = row.get(at)?;
        let unit_s = match role {
            Role::StepTime(unit) | Role::EpochTime(unit) => Some(unit),
            Role::Column(_) => Some(1.0),
            _ => None,
        };
        let with_unit = || Some(self.seconds(cell)? / unit_s?);
        let value = self.parsed(cell).or_else(with_unit)?;
        let all = |rate: Rate, value: f64| match rate {
            Rate::OfAll => Some(value),
            Rate::OfEach => Some(value * workers?),
        };
        let sequence = || {
            self.number(row, Role::Sequence)
                .or(self.facts.sequence.map(f64::from))
        };
        let step_s = match role {
            Role::StepTime(unit) => value * unit,
            Role::EpochTime(unit) => value * unit * batch? / self.facts.samples_per_epoch? as f64,
            Role::Steps(_) => 1.0 / value,
            Role::Samples(rate) => batch? / all(rate, value)?,
            Role::Tokens(rate) => batch? * sequence()? / all(rate, value)?,
            _ => value,
        };
        (step_s.is_finite() && step_s > 0.0).then_some(step_s)
    }
}

/// The interpretation of a column, if its name does not state it.
fn meaning(role: Role) -> Option<&'static str> {
    Some(match role {
        Role::Column(_) => return None,
        Role::Gpus => "workers",
        Role::Nodes => "VMs",
        Role::GpusPerNode => "workers of a VM",
        Role::GlobalBatch => "batch of all workers",
        Role::LocalBatch => "batch of each worker in a pass",
        Role::Accumulation => "passes of a step",
        Role::Sequence => "tokens of a sample",
        Role::StepTime(unit) if unit < 1.0 => "milliseconds of a step",
        Role::StepTime(_) => "time of a step",
        Role::EpochTime(_) => "time of an epoch",
        Role::Steps(_) => "steps per second",
        Role::Samples(Rate::OfAll) => "samples per second of all workers",
        Role::Samples(Rate::OfEach) => "samples per second of each worker",
        Role::Tokens(Rate::OfAll) => "tokens per second of all workers",
        Role::Tokens(Rate::OfEach) => "tokens per second of each worker",
        Role::Ignored => "not used",
    })
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
