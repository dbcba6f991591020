use std::sync::Arc;

use scavsim_data::pricing::Policy;
use scavsim_provision::policy::Recipe;
use scavsim_read::input::Folder;
use scavsim_search::search::Registry;

/// Strategies, pricing policies, policies of runs and workloads of a program's own.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    pub registry: Registry,
    /// By name; they come before built-in ones.
    pub policies: Vec<Policy>,
    /// Policies that decide during a run, by name.
    pub decisions: Vec<(String, Arc<dyn Recipe>)>,
    /// Folders by name; they come before embedded ones.
    pub workloads: Vec<(String, Folder)>,
}
