//! Results as files, tables, figures and pages.
//!
//! - [`report`]: result files and tables.
//! - `figure`: figures of results, behind the feature `figures`; `page`: one HTML page per result.

#[cfg(feature = "figures")]
pub mod figure;
#[cfg(feature = "figures")]
pub mod page;
pub mod report;
