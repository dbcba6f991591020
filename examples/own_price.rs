//! A price of one's own: what VMs would cost on machines that one owns.
//!
//! `cargo run --example own_price`

use scavsim::{Fleet, NoPrice, OwnedRecord, RentedVmType, Scenario, VmPrice};

/// A server is bought, used up over its life, and draws power; a VM has its share of it by vCPUs.
#[derive(Debug)]
struct Owned {
    /// USD for a server.
    server_usd: f64,
    /// vCPUs of a server.
    server_vcpus: f64,
    /// Hours that it lasts.
    life_h: f64,
    /// Fraction of them in which it is rented out: the others must be earned too.
    utilisation: f64,
    /// kW that it draws, cooling included.
    power_kw: f64,
    /// USD per kWh.
    usd_per_kwh: f64,
}

impl VmPrice for Owned {
    /// USD per hour of one VM; asked once per VM type before a run, never during one.
    fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
        // The catalogue knows 362 VM types; a message says what to do about any other.
        let vm = fleet.vm_type(rented.vm).ok_or_else(|| NoPrice {
            what: format!("the vCPUs of `{}` are not known", rented.vm),
            help: "name a VM type of the catalogue".to_owned(),
        })?;
        let depreciation = self.server_usd / (self.life_h * self.utilisation); // USD/h
        let power = self.power_kw * self.usd_per_kwh; // USD/h
        Ok((depreciation + power) * vm.vcpu as f64 / self.server_vcpus)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let owned = Owned {
        server_usd: 12_000.0,
        server_vcpus: 128.0,
        life_h: 4.0 * 8766.0, // four years
        utilisation: 0.6,
        power_kw: 0.9,
        usd_per_kwh: 0.30,
    };
    // Beside the cloud's price of the time: $0.13402 for an hour of e2-standard-4 (4 vCPUs).
    let scenario = Scenario::options().price("owned", owned).parse(
        r#"
        workloads = ["scavenger-resnet18"]
        pricing.policies = ["paper-fixed", "owned"]
        search = { strategies = ["oracle"], objectives = ["time", "cost"] }
        "#,
    )?;

    let mut records: Vec<OwnedRecord> = Vec::new();
    scenario.run(|record| records.push(record.clone().into_owned()))?;

    println!("pricing      objective  workers × batch   time      cost");
    for record in &records {
        println!(
            "{:<11}  {:<9}  {:>7} × {:<5}  {:5.2} h  {:6.2} USD",
            record.pricing,
            record.objective,
            record.chosen_workers.expect("workers are an axis"),
            record.chosen_batch.expect("batches are an axis"),
            record.time_h.expect("the oracle comes to its end"),
            record.cost_usd.expect("and is billed"),
        );
    }

    // By hand: (12,000 / (35,064 × 0.6) + 0.9 × 0.30) × 4 / 128 = 0.02626 USD per VM and hour.
    let by_hand = (12_000.0 / (35_064.0 * 0.6) + 0.9 * 0.30) * 4.0 / 128.0;
    for record in records.iter().filter(|record| record.pricing == "owned") {
        let vm_hours = record.time_h.zip(record.chosen_workers);
        let vm_hours = vm_hours.map(|(hours, workers)| hours * f64::from(workers));
        let billed = record
            .cost_usd
            .zip(vm_hours)
            .map(|(usd, hours)| usd / hours);
        assert!(billed.is_some_and(|usd| (usd / by_hand - 1.0).abs() < 1e-9));
    }
    Ok(())
}
