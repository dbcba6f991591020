//! What becomes of records: each task's are turned into a part by the thread that makes them, and parts are put
//! together in the order of the tasks.
//!
//! What a part holds depends on its task alone, and tasks have fixed borders: what they come to together is the same for
//! any number of threads and shards.

use std::io;

use super::record::Record;

/// Takes records in case order, on one thread.
pub trait Sink {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()>;
}

/// What the records of one task come to.
pub trait Part<'p>: Send {
    fn push_record(&mut self, record: Record<'p>) -> io::Result<()>;

    /// Is told that no record of the task is left, while there are still other threads to work on it.
    fn end(&mut self) {}
}

/// Makes parts, in any thread.
pub trait Maker: Sync {
    type Part<'p>: Part<'p>;

    fn part<'p>(&self) -> Self::Part<'p>;
}

pub trait Gather: Send {
    type Maker: Maker;

    fn maker(&self) -> Self::Maker;

    fn merge(&mut self, part: <Self::Maker as Maker>::Part<'_>) -> io::Result<()>;

    /// Is told that the next part may be long in coming: what waits can be written or added up, on any threads.
    fn flush_waiting(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands the records of parts to sinks, one after the other.
pub(super) struct OrderedSinks<'s, 'd>(pub(super) &'s mut [&'d mut (dyn Sink + Send)]);

/// Makes parts that keep their records.
pub(super) struct RecordCollector;

impl<'p> Part<'p> for Vec<Record<'p>> {
    fn push_record(&mut self, record: Record<'p>) -> io::Result<()> {
        self.push(record);
        Ok(())
    }
}

impl Maker for RecordCollector {
    type Part<'p> = Vec<Record<'p>>;

    fn part<'p>(&self) -> Self::Part<'p> {
        Vec::new()
    }
}

impl Gather for OrderedSinks<'_, '_> {
    type Maker = RecordCollector;

    fn maker(&self) -> RecordCollector {
        RecordCollector
    }

    fn merge(&mut self, part: Vec<Record<'_>>) -> io::Result<()> {
        for record in &part {
            for sink in self.0.iter_mut() {
                sink.push_record(record)?;
            }
        }
        Ok(())
    }
}
