use serde_json::{Map, Value};

/// All keys that determine the records of a run.
pub type Identity = Map<String, Value>;
