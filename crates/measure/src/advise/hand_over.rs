//! Rents the VMs of a choice: a task file of SkyPilot, and the plain commands of its provider.

use super::advice::Choice;
use scavsim_data::cloud::Market;
use scavsim_data::configuration::{Shape, vm_type};

/// Workers on each VM as a shell word: a number, or one of several by the rank of the VM.
fn workers_per_vm(choice: &Choice) -> String {
    let workers = choice.configuration.workers;
    let layout = Shape::parse(&choice.configuration.vm).map(|shape| shape.layout(workers));
    match layout.as_deref() {
        Ok([(each, _)]) => each.to_string(),
        Ok(several) => {
            let each: Vec<String> = (several.iter())
                .flat_map(|(each, vms)| std::iter::repeat_n(each.to_string(), *vms as usize))
                .collect();
            format!(
                "$(echo {} | cut -d' ' -f$((SKYPILOT_NODE_RANK + 1)))",
                each.join(" ")
            )
        }
        Err(_) => workers.div_ceil(choice.vms.max(1)).to_string(),
    }
}

/// A name that every cloud accepts: lower-case letters, digits and `-`.
fn plain(name: &str) -> String {
    let kept: String = (name.chars())
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let kept = kept.trim_matches('-');
    if kept.starts_with(|c: char| c.is_ascii_lowercase()) {
        kept.to_owned()
    } else {
        format!("job-{kept}").trim_end_matches('-').to_owned()
    }
}

/// A task for `sky launch`, or `sky jobs launch` in the spot market.
pub fn sky(name: &str, choice: &Choice) -> String {
    let (vm_type, each, vms) = (
        vm_type(&choice.configuration.vm),
        workers_per_vm(choice),
        choice.vms,
    );
    let infra = match (&choice.offer.provider, &choice.offer.region) {
        (Some(provider), Some(region)) => format!("  infra: {provider}/{region}\n"),
        (Some(provider), None) => format!("  infra: {provider}\n"),
        _ => String::new(),
    };
    let spot = choice.offer.market == Market::Spot;
    let how = if spot {
        "sky jobs launch"
    } else {
        "sky launch"
    };
    format!(
        "# {}, global batch {}: {:.2} h and ${:.2} expected.\n\
         # Start it with `{how} FILE`; setup and the last line are yours.\n\
         name: {}\n\
         num_nodes: {vms}\n\
         resources:\n{infra}\
         \x20 instance_type: {vm_type}\n\
         \x20 use_spot: {spot}\n\
         envs:\n\
         \x20 WORKERS: \"{}\"\n\
         \x20 GLOBAL_BATCH: \"{}\"\n\
         setup: |\n\
         \x20 echo \"install what the training needs\"\n\
         run: |\n\
         \x20 HEAD=$(echo \"$SKYPILOT_NODE_IPS\" | head -n1)\n\
         \x20 torchrun --nnodes=$SKYPILOT_NUM_NODES --node_rank=$SKYPILOT_NODE_RANK \\\n\
         \x20   --nproc_per_node={each} --master_addr=$HEAD --master_port=29500 \\\n\
         \x20   train.py --global-batch=$GLOBAL_BATCH\n",
        match choice.configuration.workers {
            1 => "1 worker".to_owned(),
            n => format!("{n} workers"),
        },
        choice.configuration.batch,
        choice.time_h[0],
        choice.cost_usd[0],
        plain(name),
        choice.configuration.workers,
        choice.configuration.batch,
    )
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCommands {
    #[error("the commands of {0} are not known")]
    Provider(String),
    #[error("who rents out {0} is not known")]
    NoProvider(String),
}

/// The commands that rent the VMs and delete them.
pub fn commands(name: &str, choice: &Choice) -> Result<String, NoCommands> {
    let (vm_type, vms) = (vm_type(&choice.configuration.vm), choice.vms);
    let name = plain(name);
    let spot = choice.offer.market == Market::Spot;
    let region = choice.offer.region.as_deref();
    let head = format!(
        "# {vms} × {vm_type}: {:.2} h and ${:.2} expected. What is in <> is yours.\n",
        choice.time_h[0], choice.cost_usd[0]
    );
    let own = |flag: &str| if spot { flag.to_owned() } else { String::new() };
    let text = match choice.offer.provider.as_deref() {
        Some("aws") => format!(
            "aws ec2 run-instances --region {} --instance-type {vm_type} --count {vms} \
             --image-id <AMI> --key-name <KEY>{} \
             --tag-specifications 'ResourceType=instance,Tags=[{{Key=job,Value={name}}}]'\n\
             # and when it is over\n\
             aws ec2 terminate-instances --region {} --instance-ids $(aws ec2 describe-instances \
             --region {} --filters Name=tag:job,Values={name} \
             Name=instance-state-name,Values=pending,running \
             --query 'Reservations[].Instances[].InstanceId' --output text)\n",
            region.unwrap_or("<REGION>"),
            own(" --instance-market-options MarketType=spot"),
            region.unwrap_or("<REGION>"),
            region.unwrap_or("<REGION>"),
        ),
        Some("gcp") => format!(
            "gcloud compute instances bulk create --region={} --machine-type={vm_type} \
             --count={vms} --name-pattern='{name}-{}' --image-family=<FAMILY> \
             --image-project=<PROJECT>{}\n\
             # and when it is over\n\
             gcloud compute instances list --filter='name ~ ^{name}-[0-9]+$' \
             --format='value(name,zone.basename())' | while read vm zone; do \
             gcloud compute instances delete \"$vm\" --zone=\"$zone\" --quiet; done\n",
            region.unwrap_or("<REGION>"),
            // One placeholder per digit of the last number.
            "#".repeat(vms.to_string().len().max(2)),
            own(" --provisioning-model=SPOT"),
        ),
        Some("azure") => format!(
            "az group create --name {name} --location {}\n\
             az vm create --resource-group {name} --name {name} --size {vm_type} \
             --image <IMAGE> --generate-ssh-keys{}{}\n\
             # and when it is over\n\
             az group delete --name {name} --yes\n",
            region.unwrap_or("<LOCATION>"),
            // A single VM needs no numbering.
            if vms > 1 {
                format!(" --count {vms}")
            } else {
                String::new()
            },
            own(" --priority Spot"),
        ),
        Some(other) => return Err(NoCommands::Provider(other.to_owned())),
        None => return Err(NoCommands::NoProvider(vm_type.to_owned())),
    };
    Ok(head + &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::Offer;
    use scavsim_data::configuration::Configuration;
    use scavsim_data::workload::Provenance;

    fn choice(vm: &str, workers: u32, vms: u32) -> Choice {
        Choice {
            configuration: Configuration {
                vm: vm.into(),
                workers,
                batch: 64,
            },
            vms,
            offer: Offer {
                reserved: 0,
                is_old: false,
                stated_run_h: None,
                vm: vm.to_owned(),
                provider: Some("gcp".to_owned()),
                region: None,
                market: Market::OnDemand,
                usd_per_hour: 1.0,
                date: None,
                lifetime: None,
            },
            time_h: [1.0; 3],
            cost_usd: [1.0; 3],
            miss: 0.0,
            provenance: Provenance::Measured,
            over_best: 0.0,
            chance: 1.0,
            is_on_front: true,
            stands: None,
        }
    }

    #[test]
    fn each_vm_gets_its_own_workers_and_its_own_name() {
        let by_rank =
            |each: &str| format!("$(echo {each} | cut -d' ' -f$((SKYPILOT_NODE_RANK + 1))) ");
        for (vm, workers, vms, each) in [
            ("a/4", 8, 2, "4 "),
            ("a", 3, 3, "1 "),
            ("a/4", 6, 2, &by_rank("4 2")),
            ("a/1-2-4", 7, 3, &by_rank("1 2 4")),
        ] {
            let task = sky("job", &choice(vm, workers, vms));
            assert!(task.contains(&format!("--nproc_per_node={each}")), "{task}");
        }
        for (vms, pattern) in [(4, "'job-##'"), (120, "'job-###'")] {
            let text = commands("job", &choice("a", vms, vms)).expect("gcp is known");
            assert!(text.contains(pattern), "{text}");
        }
    }

    #[test]
    fn names_are_what_every_cloud_takes() {
        assert_eq!(plain("My profile (2).v1"), "my-profile--2--v1");
        assert_eq!(plain("7b"), "job-7b");
        assert_eq!(plain("ж"), "job");
        assert!(plain(&"x".repeat(90)).len() <= 44);
    }
}
