//! Figures of results.
//!
//! In: a finished run, and where it is at hand its scenario. Out: SVG, PNG and Vega-Lite.
//!
//! - [`material`]: all that figures are made of; [`record_digest`]: what of it comes from records.
//! - [`description`]: a figure before it is drawn; [`style`]: how series differ, in colour, mark and dash.
//! - [`kinds`]: one file per kind of figure, and their list.
//! - [`job_timeline`]: the life of one job, from its trace; [`policy_timeline`]: of one under a policy.
//! - [`draw`]: a figure as SVG and PNG; [`vega`]: as a Vega-Lite specification.

pub mod description;
pub mod draw;
pub mod job_timeline;
pub mod kinds;
pub mod material;
pub mod policy_timeline;
pub mod record_digest;
pub mod style;
pub mod vega;

pub use description::{Axis, Block, Figure, Mark, Panel, Scale, Series, Shape};
pub use kinds::{FigureKind, FigureRequest, KINDS, NoFigure};
pub use material::Material;
pub use style::Style;
