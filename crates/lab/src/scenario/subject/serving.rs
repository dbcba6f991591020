//! An inference service: requests that come in at a rate, and replicas of a model on VMs of a type that answer them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use super::form::{Form, Reading};
use super::topic::{Known, Prepared, Preparing, Search, Topic};
use crate::scenario::axis::Axis as Numbers;
use crate::scenario::complaints::Complaints;
use crate::scenario::file::ScenarioFile;
use crate::scenario::prices::Rentals;
use crate::scenario::{Setting, setup};
use scavsim_data::cloud::Fleet;
use scavsim_data::space::{Axis, Space, VM};
use scavsim_data::usage::RentedVm;
use scavsim_data::workload::OutsideHull;
use scavsim_read::input::checked::{Count, Positive};
use scavsim_search::search::Figures;
use scavsim_search::testbed::service::{Deployment, Load, ServiceGround};
use scavsim_sim::cluster::Setup;

pub(super) const FORM: Form = Form {
    key: "serving",
    reads: &["serving", "cluster.start_up_s"],
    several: &["serving.requests_per_s"],
    why: "a service has replicas that answer requests",
    why_spot: "",
    policies: Vec::new,
};

/// An inference service.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServingTable {
    /// Requests that come in per second.
    pub requests_per_s: Option<Positive>,
    /// Requests to be answered; an hour of them when absent.
    pub requests: Option<Count>,
    /// Replicas of the model, each on a VM; one when absent.
    #[schemars(with = "Option<Numbers>")]
    pub replicas: Option<Spanned<Numbers>>,
    /// What a replica answers, by VM type.
    pub rates: Vec<Rate>,
}

/// What a replica answers on a VM type.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The type.
    pub vm: String,
    /// Requests per second.
    pub requests_per_s: Positive,
}

/// A service, and the ways to deploy it.
#[derive(Debug, Clone)]
pub struct Service {
    space: Space,
    types: Vec<RentedVm>,
    deployments: Vec<Deployment>,
    /// What it has to answer, by setting.
    loads: Vec<Load>,
}

/// What a file describes, with how VMs live in its first setting.
pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<(Service, Setup)> {
    let place = reading.file.serving.as_ref()?;
    let table = place.get_ref();
    let keys = [
        (
            "requests_per_s",
            table.requests_per_s.is_none(),
            "say how many come in",
        ),
        (
            "rates",
            table.rates.is_empty(),
            "say how many a replica answers",
        ),
    ];
    complaints.missing(place, "serving", "no service without it", &keys);
    let replicas = complaints.numbers("serving.replicas", &table.replicas);
    let replicas = replicas.unwrap_or_else(|| vec![1]);
    let (mut types, mut deployments, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for rate in &table.rates {
        for &replicas in &replicas {
            rows.push([types.len() as f64, f64::from(replicas)]);
            deployments.push(Deployment {
                vm: types.len() as u16,
                replicas,
                requests_per_s: rate.requests_per_s.get(),
            });
        }
        types.push(RentedVm {
            name: rate.vm.as_str().into(),
            on_spot: None,
        });
    }
    let levels: Vec<Arc<str>> = types.iter().map(|vm| Arc::clone(&vm.name)).collect();
    let axes = vec![
        Axis::categorical(VM, levels),
        Axis::numeric("replicas", "replicas"),
    ];
    let service = Service {
        space: Space::new(axes, rows).ok()?,
        types,
        deployments,
        loads: Vec::new(),
    };
    Some((service, setup::read(reading.file, &[], &[], complaints)))
}

impl Topic for Service {
    fn form(&self) -> &'static Form {
        &FORM
    }

    fn choices(&self) -> Vec<(&str, usize)> {
        vec![("service", self.space.len())]
    }

    fn known<'s>(&'s self, _: &Search, _: &Setup) -> Known<'s> {
        Known::without_history("service", &self.space, Figures::of_bag())
    }

    fn prepared<'s>(
        &'s self,
        search: &Search,
        preparing: Preparing<'_>,
    ) -> Result<Prepared<'s>, OutsideHull> {
        let load = self.loads[preparing.setting.number];
        let ground = ServiceGround::new(self.types.clone(), self.deployments.clone(), load);
        Ok(Prepared {
            known: self.known(search, &preparing.setting.setup),
            ground: Box::new(ground),
            fleet: Fleet::listed(),
        })
    }

    fn rentals<'s>(&'s self, _: &'s Setup) -> Rentals<'s> {
        Rentals::of_types(&self.types, false)
    }

    fn add_setting(&mut self, file: &ScenarioFile, _: &Setting, _: &mut Complaints<'_>) {
        let table = file.serving.as_ref().map(Spanned::get_ref);
        let per_s = table.and_then(|table| table.requests_per_s);
        let per_s = per_s.map_or(1.0, Positive::get);
        let an_hour = (per_s * 3600.0).ceil() as u64;
        self.loads.push(Load {
            requests_per_s: per_s,
            requests: table
                .and_then(|table| table.requests)
                .map_or(an_hour, |requests| u64::from(requests.get())),
        });
    }

    fn identity(&self) -> Option<(&'static str, Value)> {
        let about = json!({ "configurations": self.space.len() });
        Some(("serving", about))
    }
}
