//! Models without profiles, and user-defined runtimes.

use std::path::Path;

use scavsim::advise::model::{ModelQuestion, advise_model, json, text};
use scavsim::advise::question::NoAdvice;
use scavsim::advise::{Goal, OfferFilter};
use scavsim::input::{self, Diagnostics, Source};
use scavsim::parallel::ModelTable;
use scavsim::search::{Limits, Objective};
use scavsim_import::model;

use super::Target;
use super::inputs::{for_a_moment, taken};
use super::seeds::{Files, corpus, each_toml};

pub fn targets() -> Vec<Target> {
    let configs = corpus("model-configs");
    let models = configs.iter().map(model_of).collect();
    let runtimes = each_toml("data/runtimes", "runtime.toml");
    vec![
        Target::new("model-configs", 80, configs, config),
        Target::new("models", 30, models, plans),
        Target::new("runtimes", 30, runtimes, plans),
    ]
}

/// The imported file of a model from a hub.
fn model_of(config: &Files) -> Files {
    let text = String::from_utf8_lossy(&config[0].1);
    let mut wrong = Diagnostics::default();
    let made = model::read(&Source::new("config.json", text), "own", &mut wrong);
    let made = made.unwrap_or_else(|| panic!("{}", wrong.render(false)));
    vec![("model.toml".to_owned(), made.text.into_bytes())]
}

/// The imported file of a hub's model is read back as an equal model.
fn config(folder: &Path) -> bool {
    let mut wrong = Diagnostics::default();
    let source = Source::read(&folder.join("config.json"), &mut wrong);
    let made = source.and_then(|source| model::read(&source, "own", &mut wrong));
    let Some(made) = taken(made, &wrong) else {
        return false;
    };
    let source = Source::new("model.toml", made.text);
    let table: Option<ModelTable> = input::toml::read(&source, &mut wrong);
    let table = taken(table, &wrong).expect("what was written is read");
    let again = table.architecture("own");
    assert!(again.is_ok_and(|again| again == made.model));
    assert!(made.model.active_parameters() <= made.model.parameters());
    true
}

/// Advice for a model under a runtime; each from the input, or a shipped one.
fn plans(folder: &Path) -> bool {
    let own = |file: &str, usual: &str| {
        let path = folder.join(file);
        if path.exists() {
            path.to_string_lossy().into_owned()
        } else {
            usual.to_owned()
        }
    };
    let question = ModelQuestion {
        model: own("model.toml", "gpt2-124m"),
        tokens: 1e9,
        sequence: None,
        batch: Some(64),
        runtime: Some(own("runtime.toml", "fsdp")),
        precision: None,
        gpus: vec!["A100-40".to_owned(), "V100".to_owned()],
        most_gpus: Some(4),
        data: None,
        tuning: None,
        wanted: OfferFilter::default(),
        goal: Goal {
            objective: Objective::Cost,
            limits: Limits::default(),
            max_mean_time_s: None,
        },
        setup_min: 3.0,
        steps: 20,
        runs: 1,
    };
    match for_a_moment(|interrupt| advise_model(&question, 1, interrupt)) {
        Ok(advice) => {
            for choice in &advice.choices {
                let figures = [choice.time_h, choice.cost_usd].concat();
                let is_sound = |figure: &f64| figure.is_finite() && *figure > 0.0;
                assert!(figures.iter().all(is_sound), "{choice:?}");
            }
            assert!(!text::render(&advice).is_empty() && json::value(&advice).is_object());
            true
        }
        Err(NoAdvice::Wrong(wrong)) => taken(None::<()>, &wrong).is_some(),
        // It was stopped, or reports why.
        Err(NoAdvice::Failed(why)) => {
            assert!(!why.to_string().is_empty());
            true
        }
    }
}
