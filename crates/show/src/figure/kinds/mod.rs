//! The kinds of figures. A new one is a file and a line.

mod axes;
mod bill;
mod cost_over_time;
mod errors;
mod heat_map;
mod kind;
mod lifetimes;
mod no_figure;
mod noise;
mod overhead;
mod panels;
mod policies;
mod regret;
mod steps;
mod throughput;
mod validation;

pub use kind::{FigureKind, FigureRequest};
pub use no_figure::NoFigure;

pub const KINDS: &[FigureKind] = &[
    cost_over_time::KIND,
    overhead::KIND,
    bill::KIND,
    regret::KIND,
    errors::KIND,
    noise::KIND,
    steps::KIND,
    throughput::KIND,
    axes::KIND,
    policies::KIND,
    validation::KIND,
    lifetimes::KIND,
];
