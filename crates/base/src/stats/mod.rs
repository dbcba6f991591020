//! Statistics used all over the crate. Pure mathematics, no input or output.

pub mod cholesky;
pub mod field;
mod joint_moments;
mod kolmogorov_smirnov;
mod lanes;
pub mod line;
mod median;
mod moments;
pub mod normal;
mod ratio;
mod share;
mod sketch;
pub mod student_t;

pub use joint_moments::JointMoments;
pub use kolmogorov_smirnov::kolmogorov_smirnov;
pub use kolmogorov_smirnov::{KolmogorovSmirnov, kolmogorov_smirnov_against};
pub use lanes::Lanes;
pub use line::{Line, Plane};
pub use median::RunningMedian;
pub use moments::{Interval, Welford, mean, median, median_of};
pub use ratio::{Pair, Ratio};
pub use share::{Share, unseen};
