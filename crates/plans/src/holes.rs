//! Legal plans that cannot be, and why.

use std::fmt;

use scavsim_parallel::Misfit;

/// How many plans cannot be, by the kind of reason, each with the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holes {
    of: String,
    fit: usize,
    kinds: Vec<(&'static str, usize, String)>,
}

impl Holes {
    pub fn for_model(model: &str) -> Holes {
        Holes {
            of: model.to_owned(),
            ..Holes::default()
        }
    }

    pub fn fits(&mut self) {
        self.fit += 1;
    }

    pub fn add(&mut self, why: &Misfit) {
        let kind = match why {
            Misfit::Memory { .. } => "do not fit into the memory of their GPUs",
            Misfit::NoProfile { .. } => "have layers without a profile",
            Misfit::MemoryUnknown { .. } => "have layers of unknown memory",
            Misfit::NoLink { .. } => "use links of unknown bandwidth",
            _ => "are no plans",
        };
        match self.kinds.iter_mut().find(|known| known.0 == kind) {
            Some(known) => known.1 += 1,
            None => self.kinds.push((kind, 1, why.to_string())),
        }
    }

    pub fn count(&self) -> usize {
        self.kinds.iter().map(|kind| kind.1).sum()
    }

    pub fn commonest(&self) -> Option<&str> {
        let most = self.kinds.iter().max_by_key(|kind| kind.1);
        most.map(|kind| kind.2.as_str())
    }
}

impl fmt::Display for Holes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fit, out) = (self.fit, self.count());
        write!(f, "{}: {} legal plans, {fit} searched", self.of, fit + out)?;
        for (kind, count, first) in &self.kinds {
            write!(f, "; {count} {kind}, as: {first}")?;
        }
        Ok(())
    }
}
