//! What a program adds to what scenarios can name.

use std::sync::Arc;

use scavsim_data::pricing::Policy;
use scavsim_provision::policy::Recipe;
use scavsim_read::input::Folder;
use scavsim_search::search::Registry;

/// Strategies, pricing policies and workloads of a program's own.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    /// What names of strategies stand for.
    pub registry: Registry,
    /// Policies by their names; they come before built-in ones.
    pub policies: Vec<Policy>,
    /// Policies that decide during a run, by the names in scenarios.
    pub decisions: Vec<(String, Arc<dyn Recipe>)>,
    /// Folders of workloads by the names in scenarios; they come before embedded ones.
    pub workloads: Vec<(String, Folder)>,
}
