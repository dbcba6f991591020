//! Classes of evidence of rows for the model.

use serde::Serialize;

/// Declares the classes, each with its name; its meaning is in the comment above it and in [`Evidence::meaning`].
macro_rules! classes {
    ($($(#[doc = $line:literal])+ $class:ident $name:literal,)+) => {
        /// What it says for the model that a row is within its tolerance.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Evidence {
            $($(#[doc = $line])+ #[serde(rename = $name)] $class,)+
        }

        scavsim_base::named!(Evidence: $($class = $name),+);

        impl Evidence {
            /// Which rows are of this class.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Evidence::$class => concat!($($line),+).trim_start(),)+
                }
            }
        }
    };
}

classes! {
    /// The model had not seen the figure: neither it nor a constant that was chosen on it is in the model.
    /// Only these rows test the model.
    Prediction "prediction",
    /// A formula or simulator of the authors is run again with their constants. It tests how well they were read.
    Replication "replication",
    /// One published figure stands beside another, and nothing of the model is called.
    Data "data",
    /// The model was made by solving the figure for its inputs, as a step that is the plotted time divided back.
    Replay "replay",
    /// The row holds by construction, follows from other rows as a cost from a time, or has a tolerance too wide to
    /// fail.
    Identity "identity",
    /// Both sides are ours: a simulation beside a formula, a table or a fit beside its own data.
    Own "self",
    /// A constant was chosen on the figure, or the cell, cluster or reading that it is of.
    Calibrated "calibrated",
}
