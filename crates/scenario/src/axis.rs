//! An axis of the configuration space, and conditions on its values.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected};

use scavsim_data::configuration::Configuration;
use scavsim_data::space::{self, Space};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Count, NonNegative};
use scavsim_read::input::range::NoValues;
use scavsim_read::{deserialize_forms, schema_of};

/// Values of one axis: `"measured"`, `8`, `[8, 12]`, `{ from = 8, to = 20, step = 4 }`, or
/// `{ from = 1, to = 64, factor = 2 }`.
#[derive(Debug, Clone, Default)]
pub enum Axis {
    /// The values at which the workload was measured.
    #[default]
    Measured,
    List(Vec<Spanned<Count>>),
    /// An arithmetic or geometric series, both ends included when it meets them.
    Series(Vec<u32>),
}

impl Axis {
    /// The values; `None` for measured ones.
    pub fn values(&self) -> Option<Vec<u32>> {
        match self {
            Axis::Measured => None,
            Axis::List(values) => Some(values.iter().map(|v| v.get_ref().get()).collect()),
            Axis::Series(values) => Some(values.clone()),
        }
    }
}

const MOST_VALUES: u32 = 1000;
const MOST_LISTED: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFields {
    from: Count,
    to: Count,
    step: Option<Count>,
    factor: Option<Count>,
}

impl SeriesFields {
    fn values(&self) -> Result<Vec<u32>, NoValues> {
        let (from, to) = (self.from.get(), self.to.get());
        if from > to {
            let (from, to) = (f64::from(from), f64::from(to));
            return Err(NoValues::Descending { from, to });
        }
        let next: Box<dyn Fn(u32) -> Option<u32>> = match (self.step, self.factor) {
            (Some(_), Some(_)) => {
                return Err(NoValues::Both);
            }
            (step, None) => {
                let step = step.map_or(1, Count::get);
                let count = (to - from) / step + 1;
                if count > MOST_VALUES {
                    return Err(NoValues::TooMany {
                        most: MOST_VALUES as usize,
                        count: f64::from(count),
                    });
                }
                Box::new(move |v| v.checked_add(step))
            }
            (None, Some(factor)) if factor.get() < 2 => {
                return Err(NoValues::FactorOfOne);
            }
            (None, Some(factor)) => Box::new(move |v| v.checked_mul(factor.get())),
        };
        Ok(std::iter::successors(Some(from), |v| next(*v))
            .take_while(|v| *v <= to)
            .collect())
    }
}

deserialize_forms! {
    Axis, r#""measured", a number, a list like [8, 12] or a range like { from = 8, to = 20, step = 4 }"#;

    fn visit_str<E: Error>(self, word: &str) -> Result<Axis, E> {
        match word {
            "measured" => Ok(Axis::Measured),
            // A word with digits is not misspelt: it is another notation for lists and ranges.
            _ if word.contains(|c: char| c.is_ascii_digit()) => {
                Err(E::invalid_value(Unexpected::Str(word), &self))
            }
            _ => Err(E::unknown_variant(word, &["measured"])),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Axis, E> {
        let whole = "a whole number between 0 and 4294967295";
        let count = u32::try_from(value)
            .map_err(|_| E::invalid_value(Unexpected::Signed(value), &whole))?;
        let count: Result<Count, E> = Count::deserialize(count.into_deserializer());
        Ok(Axis::Series(vec![count?.get()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Axis, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            if values.len() == MOST_LISTED {
                return Err(A::Error::custom(format!(
                    "expected a list of at most {MOST_LISTED} values, found more"
                )));
            }
            values.push(value);
        }
        if values.is_empty() {
            return Err(A::Error::custom(
                "expected at least one value, found an empty list",
            ));
        }
        Ok(Axis::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Axis, A::Error> {
        let series =
            SeriesFields::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        series.values().map(Axis::Series).map_err(A::Error::custom)
    }
}

schema_of!(Axis, is_inline: false, {
    "description": "Values of one axis: what was measured, a number, a list, or a range with a step or a factor.",
    "oneOf": [
        { "const": "measured" },
        { "type": "integer", "minimum": 1 },
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": true,
            "items": { "type": "integer", "minimum": 1 }
        },
        {
            "type": "object",
            "additionalProperties": false,
            "required": ["from", "to"],
            "properties": {
                "from": { "type": "integer", "minimum": 1 },
                "to": { "type": "integer", "minimum": 1 },
                "step": { "type": "integer", "minimum": 1 },
                "factor": { "type": "integer", "minimum": 2 }
            }
        }
    ]
});

/// Which configurations are left out: those that meet every condition given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Exclusion {
    /// VM type.
    pub vm: Option<String>,
    /// Worker count K.
    pub workers: Option<Bounds>,
    /// Global batch B.
    pub batch: Option<Bounds>,
    /// Samples per worker and step, B/K.
    pub local_batch: Option<Bounds>,
    /// Values on any axes of a measured grid, by the names of the axes.
    pub axis: BTreeMap<String, AxisCondition>,
}

/// What a configuration must be on an axis.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum AxisCondition {
    /// This number.
    Number(f64),
    /// This name.
    Word(String),
    /// Between these numbers; of an ordinal axis, ranks from 0.
    Bounds(Bounds),
}

deserialize_forms! {
    AxisCondition, "a number, a name or bounds like { min = 1, max = 4 }";

    fn visit_i64<E: Error>(self, number: i64) -> Result<AxisCondition, E> {
        Ok(AxisCondition::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<AxisCondition, E> {
        Ok(AxisCondition::Number(number))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<AxisCondition, E> {
        Ok(AxisCondition::Word(word.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AxisCondition, A::Error> {
        let bounds = serde::de::value::MapAccessDeserializer::new(map);
        Bounds::deserialize(bounds).map(AxisCondition::Bounds)
    }
}

impl AxisCondition {
    fn is_met(&self, space: &Space, at: usize, axis: usize) -> bool {
        match self {
            AxisCondition::Number(number) if space.axes()[axis].levels().is_empty() => {
                space.value(at, axis) == *number
            }
            AxisCondition::Number(number) => space.text(at, axis) == number.to_string(),
            AxisCondition::Word(word) => space.text(at, axis) == *word,
            AxisCondition::Bounds(bounds) => bounds.hold(space.value(at, axis)),
        }
    }
}

/// From `min` to `max`, both included; either may be absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Least value.
    pub min: Option<NonNegative>,
    /// Greatest value.
    pub max: Option<NonNegative>,
}

impl Bounds {
    fn hold(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min.get())
            && self.max.is_none_or(|max| value <= max.get())
    }
}

impl Exclusion {
    pub fn is_empty(&self) -> bool {
        *self == Exclusion::default()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        let usual = [
            (space::VM, self.vm.is_some()),
            (space::WORKERS, self.workers.is_some()),
            (space::BATCH, self.batch.is_some()),
            ("local_batch", self.local_batch.is_some()),
        ];
        let usual = usual.into_iter().filter(|(_, given)| *given);
        let other = self.axis.keys().map(String::as_str);
        usual.map(|(name, _)| name).chain(other)
    }

    /// Whether a configuration of a space meets every condition; a condition on a missing axis is not met.
    pub fn matches_in(&self, space: &Space, at: usize) -> bool {
        let holds = |bounds: &Option<Bounds>, value: Option<f64>| {
            bounds.is_none_or(|bounds| value.is_some_and(|value| bounds.hold(value)))
        };
        let (workers, batch) = (
            space.workers(at).map(f64::from),
            space.batch(at).map(f64::from),
        );
        let local_batch = batch.zip(workers).map(|(batch, workers)| batch / workers);
        let on_axis = |(name, condition): (&String, &AxisCondition)| {
            (space.axis(name)).is_some_and(|axis| condition.is_met(space, at, axis))
        };
        (self.vm.as_deref()).is_none_or(|vm| space.vm(at).is_some_and(|own| **own == *vm))
            && holds(&self.workers, workers)
            && holds(&self.batch, batch)
            && holds(&self.local_batch, local_batch)
            && self.axis.iter().all(on_axis)
    }

    pub fn matches(&self, configuration: &Configuration) -> bool {
        let holds = |bounds: &Option<Bounds>, value: f64| bounds.is_none_or(|b| b.hold(value));
        (self.vm.as_deref()).is_none_or(|vm| vm == &*configuration.vm)
            && holds(&self.workers, f64::from(configuration.workers))
            && holds(&self.batch, f64::from(configuration.batch))
            && holds(&self.local_batch, configuration.local_batch())
            && self.axis.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(
        from: u32,
        to: u32,
        step: Option<u32>,
        factor: Option<u32>,
    ) -> Result<Vec<u32>, NoValues> {
        let count = |n: u32| Count::new(n).expect("at least 1");
        SeriesFields {
            from: count(from),
            to: count(to),
            step: step.map(count),
            factor: factor.map(count),
        }
        .values()
    }

    #[test]
    fn a_series_adds_or_multiplies_and_never_passes_its_end() {
        assert_eq!(series(8, 20, Some(4), None), Ok(vec![8, 12, 16, 20]));
        assert_eq!(series(8, 19, Some(4), None), Ok(vec![8, 12, 16]));
        assert_eq!(series(3, 3, None, None), Ok(vec![3]));
        assert_eq!(series(1, 64, None, Some(4)), Ok(vec![1, 4, 16, 64]));
        let most = u32::MAX;
        assert_eq!(
            series(1 << 30, most, None, Some(2)),
            Ok(vec![1 << 30, 1 << 31])
        );
        for wrong in [
            series(9, 8, None, None),
            series(1, 8, Some(1), Some(2)),
            series(1, 8, None, Some(1)),
            series(1, most, None, None),
        ] {
            assert!(wrong.is_err());
        }
    }

    #[test]
    fn an_exclusion_needs_all_its_conditions() {
        let at = |workers, batch| Configuration {
            vm: "vm".into(),
            workers,
            batch,
        };
        let below = |max| {
            Some(Bounds {
                min: None,
                max: NonNegative::new(max),
            })
        };
        let exclusion = Exclusion {
            workers: below(8.0),
            local_batch: below(32.0),
            ..Exclusion::default()
        };
        assert!(exclusion.matches(&at(8, 256)));
        assert!(!exclusion.matches(&at(8, 257)));
        assert!(!exclusion.matches(&at(16, 256)));
    }
}
