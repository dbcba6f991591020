use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess};
use serde::{Deserialize, Serialize};

use scavsim_read::deserialize_forms;
use scavsim_read::input::checked::{NonNegative, Positive};

/// `spot_series` as it is written: steps, or the name of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SpotSeriesKey {
    Steps(Vec<Step>),
    Table(String),
}

deserialize_forms! {
    SpotSeriesKey, "steps like [[0, 0.3], [6, 0.45]] or the name of a table like \"spot.csv\"";

    fn visit_str<E: Error>(self, name: &str) -> Result<SpotSeriesKey, E> {
        Ok(SpotSeriesKey::Table(name.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SpotSeriesKey, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(SpotSeriesKey::Steps)
    }
}

impl JsonSchema for SpotSeriesKey {
    fn schema_name() -> Cow<'static, str> {
        "SpotSeriesKey".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<Step>();
        json_schema!({
            "anyOf": [
                { "type": "array", "minItems": 1, "items": step },
                { "type": "string", "minLength": 1 }
            ]
        })
    }
}

/// From this many hours since the job began, the spot price is this multiple of the base price.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Step(pub NonNegative, pub Positive);
