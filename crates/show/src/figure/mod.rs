//! Figures of results: from a finished run, and its scenario if available, to SVG, PNG and Vega-Lite.

pub mod axis_means;
pub mod description;
pub mod draw;
pub mod job_timeline;
pub mod kinds;
pub mod material;
pub mod place;
pub mod policy_timeline;
pub mod record_digest;
pub mod style;
pub mod vega;

pub use description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
pub use kinds::{FigureKind, FigureRequest, KINDS, NoFigure};
pub use material::Material;
pub use style::Style;
