//! Applications of the artifact: names, and what their files do not say.

use super::options::PolluxOptions;
use scavsim_data::workload::Origin;
use scavsim_read::input::{Diagnostic, Diagnostics, closest};

/// What the files do not say of one.
pub(super) struct Application {
    pub(super) name: &'static str,
    pub(super) model: &'static str,
    pub(super) data_set: &'static str,
    pub(super) target: &'static str,
    pub(super) samples_per_epoch: f64,
    pub(super) samples_origin: Origin,
    pub(super) samples_source: &'static str,
    pub(super) restore_s: f64,
    pub(super) parameters: f64,
    pub(super) parameters_source: &'static str,
}

pub(super) const APPLICATIONS: [Application; 3] = [
    Application {
        name: "bert",
        model: "BERT fine-tuning",
        data_set: "SQuAD",
        target: "the statistical progress of 14,774 steps at batch 12 (2 epochs); F1 88.1 to 88.6",
        samples_per_epoch: 88_644.0,
        samples_origin: Origin::Derived,
        samples_source: "14,774 steps of 12 samples over 2 epochs (validation-12.csv)",
        restore_s: 120.0,
        parameters: 110_000_000.0,
        parameters_source: "BERT-base, as printed by Devlin et al. 2019; that it is this size is a reading of the artifact",
    },
    Application {
        name: "cifar10",
        model: "ResNet-18",
        data_set: "CIFAR-10",
        target: "the statistical progress of 39,062 steps at batch 128 (100 epochs); accuracy 0.941 to 0.947",
        samples_per_epoch: 50_000.0,
        samples_origin: Origin::Stated,
        samples_source: "size of the training set",
        restore_s: 50.0,
        parameters: 11_173_962.0,
        parameters_source: "weights of the ResNet-18 for images of 32 × 32",
    },
    Application {
        name: "imagenet",
        model: "ResNet-50",
        data_set: "ImageNet",
        target: "the statistical progress of 576,525 steps at batch 200 (90 epochs); top-1 accuracy 0.749 to 0.756",
        samples_per_epoch: 1_281_167.0,
        samples_origin: Origin::Stated,
        samples_source: "size of the training set",
        restore_s: 250.0,
        parameters: 25_557_032.0,
        parameters_source: "weights of the ResNet-50 for 1,000 classes",
    },
];

/// The known application that is meant, if it is one: as `--app` says, or the folder's name. Whatever else a folder is called,
/// it speaks for itself.
pub(super) fn known(
    options: &PolluxOptions,
    diagnostics: &mut Diagnostics,
) -> Option<&'static Application> {
    let find = |name: &str| APPLICATIONS.iter().find(|a| a.name == name);
    let Some(name) = &options.application else {
        let folder = options.folder.file_name()?;
        return find(folder.to_str()?);
    };
    let found = find(name);
    if found.is_none() {
        let names = || APPLICATIONS.iter().map(|a| a.name);
        let title = format!("unknown Pollux application `{name}`");
        let mut help = format!(
            "known: {}; leave --app out for any other, whose files speak for themselves",
            names().collect::<Vec<_>>().join(", ")
        );
        if let Some(near) = closest(name, names()) {
            help = format!("did you mean `{near}`? {help}");
        }
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    found
}
