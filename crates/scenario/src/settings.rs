use super::complaints::Complaints;
use super::file::ScenarioFile;
use super::measured_defaults::MeasuredDefaults;
use super::subject::ReadSubject;
use super::subject::form::Reading;
use scavsim_experiment::KnownJobs;
use scavsim_experiment::subject::Setting;
use scavsim_read::input::checked::Spread;
use scavsim_read::input::toml::Swept;
use scavsim_sim::cluster::Setup;
use scavsim_sim::training::Variation;
use scavsim_sim::training::variation::{Drift, Straggler};

/// All settings, each checked separately; `setup` belongs to the first.
pub(super) fn all(
    reading: &Reading<'_>,
    (subject, setup): (&mut dyn ReadSubject, Setup),
    measured: &mut MeasuredDefaults,
    complaints: &mut Complaints<'_>,
) -> Vec<Setting> {
    // After a wrong value the settings may seem different.
    let document = (reading.files.settings()).filter(|_| reading.reads_well);
    let name = |at| document.as_ref().map_or(String::new(), |d| d.name(at));
    let swept = |at| document.as_ref().map_or(Vec::new(), |d| d.swept(at));
    let named = |at| (name(at), swept(at));
    let mut settings = vec![setting(0, named(0), reading.file, setup)];
    subject.add_setting(reading.file, &settings[0], complaints);
    let Some(document) = &document else {
        return settings;
    };
    for at in 1..document.readings() {
        let Some(mut file) = document.read(at, complaints.diagnostics) else {
            continue;
        };
        measured.fill(&mut file);
        let setup = subject.setup(&file, complaints);
        let own = setting(settings.len(), named(at), &file, setup);
        subject.add_setting(&file, &own, complaints);
        settings.push(own);
    }
    settings
}

fn setting(
    number: usize,
    (name, swept): (String, Swept),
    file: &ScenarioFile,
    setup: Setup,
) -> Setting {
    Setting {
        number,
        name,
        swept,
        variation: variation(file),
        setup,
        repeats: file.search.repeats.map(|repeats| u64::from(repeats.get())),
        known_jobs: match (&file.search.fleet, file.search.known_runs) {
            (Some(fleet), _) if *fleet.get_ref() => KnownJobs::Fleet,
            (_, Some(most)) => KnownJobs::Runs(u64::from(most)),
            _ => KnownJobs::All,
        },
    }
}

fn variation(file: &ScenarioFile) -> Variation {
    let v = &file.variation;
    let spread = |s: Option<Spread>| s.map_or(0.0, Spread::get);
    Variation {
        step_cv: spread(v.step_cv),
        placement_sigma: spread(v.placement_sigma),
        vm_sigma: spread(v.vm_sigma),
        noise_cv: spread(v.noise_cv),
        noise_curve: v.noise_curve,
        epoch_cv: spread(v.epoch_cv),
        drift: v.drift.as_ref().map(|d| Drift {
            sigma: d.sigma.get(),
            period_s: d.period_s.get(),
        }),
        straggler: v.straggler.as_ref().map(|s| Straggler {
            probability: s.probability.get(),
            factor: s.factor.get(),
        }),
    }
}
