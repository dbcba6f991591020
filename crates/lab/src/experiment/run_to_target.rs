use scavsim_data::usage::Usage;
use scavsim_search::testbed::Timeline;

/// A run to the target and what it used, before any price.
#[derive(Debug, Clone)]
pub struct Run {
    /// Choices before it that never reached the target.
    pub failed: Vec<usize>,
    pub line: Timeline,
    /// Used until the target, search steps counting as progress.
    pub net: Usage,
    /// Used until the target if search steps earn nothing.
    pub gross: Usage,
    /// Used until the choice began to train.
    pub search: Usage,
}
