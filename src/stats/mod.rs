//! Statistics used all over the crate: running moments, quantiles, intervals, lines, and the
//! Kolmogorov–Smirnov test. Pure mathematics, no input or output.

mod kolmogorov_smirnov;
mod joint;
pub mod line;
mod median;
mod moments;
pub mod normal;

#[cfg(any(test, feature = "inside"))]
pub use kolmogorov_smirnov::kolmogorov_smirnov;
pub use kolmogorov_smirnov::{KolmogorovSmirnov, kolmogorov_smirnov_against};
pub use joint::Joint;
pub use line::{Line, Plane};
pub use median::RunningMedian;
pub use moments::{Welford, median, student_t_97_5};
