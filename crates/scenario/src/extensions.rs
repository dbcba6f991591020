use std::sync::Arc;

use scavsim_data::pricing::Policy;
use scavsim_provision::policy::Recipe;
use scavsim_read::input::Folder;
use scavsim_search::search::Registry;

/// A program's own strategies, pricing policies, policies of runs and workloads.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    pub registry: Registry,
    /// By name; they have priority over built-in ones.
    pub policies: Vec<Policy>,
    /// Policies that decide during a run, by name.
    pub decisions: Vec<(String, Arc<dyn Recipe>)>,
    /// Folders by name; they have priority over embedded ones.
    pub workloads: Vec<(String, Folder)>,
}
