use std::path::PathBuf;

#[derive(Debug, Clone, Default)]
pub struct SkypilotOptions {
    /// Folders of catalogues: `vN`, or that of one cloud in it.
    pub folders: Vec<PathBuf>,
    /// The day of each; of one whose name is a day that is not needed.
    pub dates: Vec<String>,
    /// Only these clouds.
    pub clouds: Vec<String>,
    /// Only these regions.
    pub regions: Vec<String>,
    /// Hosts with accelerators: `[NAME=]HOST+ACCELERATOR:COUNT`.
    pub attach: Vec<String>,
}
