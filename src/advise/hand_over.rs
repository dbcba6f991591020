//! What rents the VMs of a choice: a task file of SkyPilot, and the plain commands of its provider.

use super::advice::Choice;
use crate::cloud::Market;
use crate::configuration::Shape;

/// VM type, workers on a VM, VMs.
fn parts(choice: &Choice) -> (&str, u32, u32) {
    let vm_type =
        Shape::parse(&choice.configuration.vm).map_or(&*choice.configuration.vm, |s| s.vm_type);
    let each = choice.configuration.workers.div_ceil(choice.vms.max(1));
    (vm_type, each, choice.vms)
}

/// A name that every cloud takes: lower-case letters, digits and `-`.
fn plain(name: &str) -> String {
    let kept: String = (name.chars())
        .map(|c| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_lowercase(),
            false => '-',
        })
        .take(40)
        .collect();
    let kept = kept.trim_matches('-');
    match kept.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => kept.to_owned(),
        false => format!("job-{kept}").trim_end_matches('-').to_owned(),
    }
}

/// A task for `sky launch`, or `sky jobs launch` in the spot market.
pub fn sky(name: &str, choice: &Choice) -> String {
    let (vm_type, each, vms) = parts(choice);
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

/// The commands that rent the VMs and give them back.
///
/// # Errors
/// A sentence where the provider is not known.
pub fn commands(name: &str, choice: &Choice) -> Result<String, String> {
    let (vm_type, _, vms) = parts(choice);
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
             --count={vms} --name-pattern='{name}-##' --image-family=<FAMILY> \
             --image-project=<PROJECT>{}\n\
             # and when it is over\n\
             gcloud compute instances list --filter='name ~ ^{name}-[0-9]+$' \
             --format='value(name,zone.basename())' | while read vm zone; do \
             gcloud compute instances delete \"$vm\" --zone=\"$zone\" --quiet; done\n",
            region.unwrap_or("<REGION>"),
            own(" --provisioning-model=SPOT"),
        ),
        Some("azure") => format!(
            "az group create --name {name} --location {}\n\
             az vm create --resource-group {name} --name {name} --size {vm_type} \
             --image <IMAGE> --generate-ssh-keys{}{}\n\
             # and when it is over\n\
             az group delete --name {name} --yes\n",
            region.unwrap_or("<LOCATION>"),
            // One VM is none of several.
            if vms > 1 {
                format!(" --count {vms}")
            } else {
                String::new()
            },
            own(" --priority Spot"),
        ),
        Some(other) => return Err(format!("the commands of {other} are not known")),
        None => return Err(format!("who rents out {vm_type} is not known")),
    };
    Ok(head + &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_every_cloud_takes() {
        assert_eq!(plain("My profile (2).v1"), "my-profile--2--v1");
        assert_eq!(plain("7b"), "job-7b");
        assert_eq!(plain("ж"), "job");
        assert!(plain(&"x".repeat(90)).len() <= 44);
    }
}
