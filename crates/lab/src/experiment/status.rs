use serde::{Deserialize, Serialize};

/// Whether a case has a result.
///
/// ```
/// # use scavsim_lab::face as scavsim;
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
