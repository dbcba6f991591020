//! One declaration of the columns gives the record, its owned twin, and the list behind every file, summary and document.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Whether a case has a result.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// assert_eq!(scavsim::Status::Failed.name(), "failed");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The case has a result.
    Ok,
    /// The case has no result; the reason stands beside.
    #[default]
    Failed,
}

scavsim_base::named!(Status: Ok = "ok", Failed = "failed");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number from 0, in every record.
    Count,
    /// A name that the scenario lists, in every record.
    Name,
    /// One of a few words, in every record.
    Word,
    /// Text, if there is something to say.
    Text,
    /// A whole number, if it exists.
    Whole,
    /// A number, if it exists.
    Figure,
}

scavsim_base::named! {
    Kind:
    Count = "count", Name = "name", Word = "word", Text = "text or empty",
    Whole = "whole number or empty", Figure = "number or empty",
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    None,
    /// May be asked to group by it.
    Key,
    /// Averages it, behind those declared above.
    Mean,
    /// Averages it, and has it before this one, which is declared above.
    MeanBefore(&'static str),
    /// Tells the share of ones, of zeros and ones.
    Share,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::None => "",
            Role::Key => "key",
            Role::Mean | Role::MeanBefore(_) => "mean",
            Role::Share => "share",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'r> {
    Empty,
    Count(u64),
    Text(&'r str),
    Whole(u32),
    Figure(f64),
}

impl<'r> Value<'r> {
    pub fn text(self) -> Option<&'r str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn count(self) -> Option<u64> {
        match self {
            Value::Count(count) => Some(count),
            Value::Whole(whole) => Some(u64::from(whole)),
            _ => None,
        }
    }

    #[cfg(feature = "arrow")]
    pub fn whole_number(self) -> Option<u32> {
        match self {
            Value::Whole(whole) => Some(whole),
            _ => None,
        }
    }

    pub fn figure(self) -> Option<f64> {
        match self {
            Value::Figure(figure) => Some(figure),
            _ => None,
        }
    }
}

/// A type that a field of a record can have.
pub(super) trait Field<'p> {
    const KIND: Kind;
    /// A type that a field of a record can have, without a plan to borrow from.
    type OwnedValue;

    fn value(&self) -> Value<'_>;
    #[inline]
    fn figure(&self) -> f64 {
        f64::NAN
    }
    #[inline]
    fn is_wrong(&self) -> bool {
        false
    }
    fn into_owned(self) -> Self::OwnedValue;
    fn borrowed(owned: &'p Self::OwnedValue) -> Self;
}

macro_rules! plain_field {
    ($type:ty, $kind:ident, |$it:ident| $value:expr) => {
        impl Field<'_> for $type {
            const KIND: Kind = Kind::$kind;
            type OwnedValue = $type;

            fn value(&self) -> Value<'_> {
                let $it = *self;
                $value
            }

            fn into_owned(self) -> $type {
                self
            }

            fn borrowed(owned: &$type) -> $type {
                *owned
            }
        }
    };
}

plain_field!(u64, Count, |count| Value::Count(count));
plain_field!(Status, Word, |status| Value::Text(status.name()));
plain_field!(Option<u32>, Whole, |whole| whole
    .map_or(Value::Empty, Value::Whole));

impl Field<'_> for Option<f64> {
    const KIND: Kind = Kind::Figure;
    type OwnedValue = Option<f64>;

    fn value(&self) -> Value<'_> {
        self.map_or(Value::Empty, Value::Figure)
    }

    #[inline]
    fn figure(&self) -> f64 {
        self.unwrap_or(f64::NAN)
    }

    #[inline]
    fn is_wrong(&self) -> bool {
        !self.unwrap_or(0.0).is_finite()
    }

    fn into_owned(self) -> Option<f64> {
        self
    }

    fn borrowed(owned: &Option<f64>) -> Option<f64> {
        *owned
    }
}

impl<'p> Field<'p> for &'p str {
    const KIND: Kind = Kind::Name;
    type OwnedValue = String;

    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }

    fn into_owned(self) -> String {
        self.to_owned()
    }

    fn borrowed(owned: &'p String) -> Self {
        owned
    }
}

impl<'p> Field<'p> for Option<&'p str> {
    const KIND: Kind = Kind::Text;
    type OwnedValue = Option<String>;

    fn value(&self) -> Value<'_> {
        self.map_or(Value::Empty, Value::Text)
    }

    fn into_owned(self) -> Option<String> {
        self.map(str::to_owned)
    }

    fn borrowed(owned: &'p Option<String>) -> Self {
        owned.as_deref()
    }
}

impl<'p> Field<'p> for Cow<'p, str> {
    const KIND: Kind = Kind::Text;
    type OwnedValue = String;

    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }

    fn into_owned(self) -> String {
        Cow::into_owned(self)
    }

    fn borrowed(owned: &'p String) -> Self {
        Cow::Borrowed(owned)
    }
}

/// The type of a field that borrows for the lifetime given, or of its owned twin without one.
macro_rules! field {
    (count $($p:lifetime)?) => { u64 };
    (name $p:lifetime) => { &$p str };
    (name) => { String };
    (status $($p:lifetime)?) => { Status };
    (text $p:lifetime) => { Option<&$p str> };
    (text) => { Option<String> };
    (remark $p:lifetime) => { std::borrow::Cow<$p, str> };
    (remark) => { String };
    (whole $($p:lifetime)?) => { Option<u32> };
    (figure $($p:lifetime)?) => { Option<f64> };
}

/// What a summary does with a column that is declared with these words.
macro_rules! role {
    () => {
        Role::None
    };
    (key) => {
        Role::Key
    };
    (mean) => {
        Role::Mean
    };
    (share) => {
        Role::Share
    };
    (mean before $other:ident) => {
        Role::MeanBefore(stringify!($other))
    };
}

/// Declares the columns of the records, in their order: `NAME: KIND in "UNIT", ROLE;` under a
/// sentence that says what it is. Unit and role may be absent.
///
/// Kinds are `count`, `name` (borrowed from the plan), `text` (the same, or nothing), `remark` (text
/// that is made on the way), `whole`, `figure` and `status`; roles `key`, `share`, `mean` and `mean
/// before OTHER`.
macro_rules! columns {
    ($(
        $(#[doc = $what:literal])+
        $name:ident: $kind:ident $(in $unit:literal)? $(, $role:ident $($before:ident $other:ident)?)?;
    )+) => {
        /// One row of `records.csv`. Ratios are fractions; an empty cell means that the figure does not
        /// exist for this case, never zero.
        ///
        /// The default is the record of a case without a result, nor anything else.
        ///
        /// ```
        /// # use scavsim_scenario::face as scavsim;
        /// use scavsim::{OwnedRecord, Record, Status};
        ///
        /// let mut record = Record::default();
        /// (record.strategy, record.regret_cost) = ("mine", Some(0.25));
        /// assert_eq!(record.status, Status::Failed);
        /// let kept: OwnedRecord = record.into_owned();
        /// assert_eq!((&*kept.strategy, kept.regret_cost), ("mine", Some(0.25)));
        /// ```
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(bound(deserialize = "'de: 'p"))]
        #[non_exhaustive]
        pub struct Record<'p> {
            $($(#[doc = $what])+ pub $name: field!($kind 'p),)+
            /// Values of the axes that the scenario sweeps: columns behind all others.
            #[serde(skip)]
            pub axes: RecordAxes<'p>,
            /// Records of a plan with this number have the same setting, workload, pricing, objective and strategy. No column.
            #[serde(skip)]
            pub(crate) group: GroupNumber,
        }

        /// A record that borrows from nothing, to keep beyond the run that it comes from. A file may leave columns out.
        ///
        /// ```
        /// # use scavsim_scenario::face as scavsim;
        /// use scavsim::{OwnedRecord, Scenario};
        ///
        /// let scenario = Scenario::parse(
        ///     r#"
        ///     workloads = ["scavenger-resnet18"]
        ///     search = { strategies = ["oracle"], objectives = ["time", "cost"] }
        ///     "#,
        /// )?;
        /// let mut kept: Vec<OwnedRecord> = Vec::new();
        /// scenario.run(|record| kept.push(record.clone().into_owned()))?;
        /// assert!(kept[0].time_h < kept[1].time_h && kept[0].cost_usd > kept[1].cost_usd);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct OwnedRecord {
            $($(#[doc = $what])+ pub $name: field!($kind),)+
            /// Values of the axes that the scenario sweeps: columns behind all others.
            #[serde(skip)]
            pub axes: OwnedAxes,
        }

        pub const COLUMN_COUNT: usize = [$(stringify!($name)),+].len();

        pub static COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            unit: concat!($($unit)?),
            kind: <field!($kind 'static) as Field<'static>>::KIND,
            what: concat!($($what),+).trim_ascii(),
            role: role!($($role $($before $other)?)?),
            of: |record| record.$name.value(),
        }),+];

        impl Record<'_> {
            /// Whether every figure is finite: no NaN or infinity may reach a file.
            pub fn is_finite(&self) -> bool {
                // All are looked at: it is seldom that one is wrong.
                !($(self.$name.is_wrong())|+)
            }

            pub fn each_cell(&self, mut take: impl FnMut(usize, super::columns::Value<'_>)) {
                let mut at = 0;
                $(
                    take(at, self.$name.value());
                    at += 1;
                )+
                let _ = at;
            }

            /// The figures, in the order of the columns; NaN where there is none.
            #[inline]
            pub(super) fn figures(&self) -> [f64; COLUMN_COUNT] {
                [$(self.$name.figure()),+]
            }

            pub fn into_owned(self) -> OwnedRecord {
                OwnedRecord { $($name: Field::into_owned(self.$name),)+ axes: self.axes.into_owned() }
            }
        }

        impl OwnedRecord {
            pub fn as_record(&self) -> Record<'_> {
                Record {
                    $($name: Field::borrowed(&self.$name),)+
                    axes: self.axes.as_axes(),
                    group: GroupNumber::default(),
                }
            }
        }
    };
}

pub(super) use {columns, field, role};
