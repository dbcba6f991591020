use serde_json::{Map, Value};

/// All that decides the records of a run, by key.
pub type Identity = Map<String, Value>;
