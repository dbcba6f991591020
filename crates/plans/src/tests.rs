//! Plans that tests are about: a model of the library on VMs of four GPUs.

use std::sync::Arc;

use crate::{Axes, Choices, Form, Offer, Parts, PreparedForm, Target};
use scavsim_engine::Parallelism;
use scavsim_parallel::{NodeKind, Runtime, Schedule, library};
use scavsim_read::input::Diagnostics;

#[derive(Debug)]
pub struct ModelOnVms {
    pub model: &'static str,
    pub gpu: &'static str,
    pub memory_gib: f64,
    pub on_spot: Option<bool>,
    pub most_gpus: u32,
    pub batch: u32,
    pub sequences: f64,
    pub runtime: Runtime,
    pub schedule: Schedule,
    pub virtual_stages: u32,
}

impl ModelOnVms {
    pub fn choices(self) -> Choices {
        let mut told = Diagnostics::default();
        let profile = library::profile(self.model, &mut told).expect("it is embedded");
        let links = library::links(&mut told).expect("they are embedded");
        let kind = NodeKind {
            name: "a2-highgpu-4g".into(),
            gpu: self.gpu.into(),
            gpus_per_node: 4,
            memory_gib: Some(self.memory_gib),
            zone: "".into(),
        };
        let axes = Axes {
            kinds: vec![kind],
            offers: vec![Offer {
                name: "a2-highgpu-4g".into(),
                lanes: vec![vec![0]],
                zone: 0,
                on_spot: self.on_spot,
            }],
            data: None,
            pipeline: None,
            tensor: None,
            micro_batch: None,
            batches: vec![self.batch],
            schedules: vec![self.schedule],
            virtual_stages: vec![self.virtual_stages],
            nodes: None,
            most_gpus: self.most_gpus,
            cuts: Vec::new(),
        };
        let forms = vec![PreparedForm {
            form: Form::from_runtime(&self.runtime),
            profile: Arc::new(profile),
            runtime: self.runtime,
            usual_stages: None,
        }];
        let drafts: Vec<_> = axes.drafts(&forms).collect();
        let parts = Parts {
            name: "opt".to_owned(),
            target: Target {
                sequences: self.sequences,
                noise_scale: None,
            },
            axes,
            zones: Vec::new(),
            forms,
            links: Arc::new(links),
            doubt: Default::default(),
            flops: None,
            hashes: Vec::new(),
        };
        Choices::from_drafts(parts, &drafts, Parallelism::One).expect("some fit")
    }
}
