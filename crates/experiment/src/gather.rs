//! What becomes of records: the thread that makes a task's records turns them into a part, and parts are put together in task
//! order. Tasks have fixed borders, so that the result is the same for any number of threads and shards.

use std::io;

use super::record::Record;

/// Takes records in case order, on one thread.
pub trait Sink {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()>;
}

pub trait Part<'p>: Send {
    /// Takes the next record, which may be taken away.
    fn push_record(&mut self, record: &mut Record<'p>) -> io::Result<()>;

    /// Called after the task's last record, while other threads still work.
    fn end(&mut self) {}
}

pub trait Maker: Sync {
    type Part<'p>: Part<'p>;

    fn part<'p>(&self) -> Self::Part<'p>;
}

pub trait Gather: Send {
    type Maker: Maker;

    fn maker(&self) -> Self::Maker;

    fn merge(&mut self, part: <Self::Maker as Maker>::Part<'_>) -> io::Result<()>;

    /// Called when the next part may take long: what waits can be written or added up, on any threads.
    fn flush_waiting(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct OrderedSinks<'s, 'd>(pub(super) &'s mut [&'d mut (dyn Sink + Send)]);

pub(super) struct RecordCollector;

impl<'p> Part<'p> for Vec<Record<'p>> {
    fn push_record(&mut self, record: &mut Record<'p>) -> io::Result<()> {
        self.push(std::mem::take(record));
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
