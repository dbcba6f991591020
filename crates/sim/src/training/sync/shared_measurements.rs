//! What was measured in this process: the same protocol on the same workers is measured once, whichever scenario asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::event_protocol::EventProtocol;
use crate::training::stepping::Stepping;

/// Protocols on workers that are remembered; one more, and all are forgotten.
const MOST: usize = 512;

/// Tables of what was measured, each of a protocol on workers at an accuracy.
pub(super) struct SharedMeasurements<K, V>(Mutex<BTreeMap<String, Arc<MeasurementTable<K, V>>>>);

impl<K: Ord, V: Clone> SharedMeasurements<K, V> {
    pub(super) const fn new() -> Self {
        SharedMeasurements(Mutex::new(BTreeMap::new()))
    }

    pub(super) fn table(
        &self,
        protocol: &dyn EventProtocol,
        workers: &Stepping,
        rate_error: f64,
    ) -> Arc<MeasurementTable<K, V>> {
        let known = Arc::new(MeasurementTable::new());
        // Long, and rarely the same twice.
        if workers.machines.is_some() {
            return known;
        }
        // Numbers are written so that they read back as the same bits.
        let key = format!("{protocol:?} {workers:?} {rate_error}");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&key) {
            all.clear();
        }
        Arc::clone(all.entry(key).or_insert(known))
    }
}

#[derive(Debug)]
pub(super) struct MeasurementTable<K, V>(Mutex<BTreeMap<K, Arc<MeasuredOnce<V>>>>);

/// One value, which one thread measures and others wait for.
#[derive(Debug)]
struct MeasuredOnce<V> {
    value: OnceLock<V>,
    measuring: Mutex<()>,
}

impl<V> Default for MeasuredOnce<V> {
    fn default() -> Self {
        MeasuredOnce {
            value: OnceLock::new(),
            measuring: Mutex::new(()),
        }
    }
}

impl<K: Ord, V: Clone> MeasurementTable<K, V> {
    pub(super) const fn new() -> Self {
        MeasurementTable(Mutex::new(BTreeMap::new()))
    }

    /// The value at a place; `measure` also says whether it came to its end: what was interrupted is not remembered.
    pub(super) fn get_or_measure(&self, place: K, measure: impl FnOnce() -> (V, bool)) -> V {
        let cell = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(place).or_default())
        };
        if let Some(value) = cell.value.get() {
            return value.clone();
        }
        let _measuring = (cell.measuring.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = cell.value.get() {
            return value.clone();
        }
        let (value, is_whole) = measure();
        if is_whole {
            // Nobody else sets it.
            let _ = cell.value.set(value.clone());
        }
        value
    }
}
