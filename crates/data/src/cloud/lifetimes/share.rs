use scavsim_base::rng::Stream;

/// How many of one's own `vms` are lost when `lost` of the `held` VMs of the market are. Up to `held` own VMs:
/// hypergeometric, one draw per VM of the loss. Beyond: lost·vms/held, its fraction drawn. The mean is lost·vms/held in both
/// cases, so a VM's risk does not depend on the size of its cluster. The model is ours: traces have one cluster size each.
pub fn share(lost: u32, held: f64, vms: u32, stream: &mut Stream) -> u32 {
    let own = f64::from(vms);
    if own > held {
        let expected = f64::from(lost) * own / held;
        let whole = expected as u32;
        let more = u32::from(stream.uniform() < expected - f64::from(whole));
        return whole.saturating_add(more).min(vms);
    }
    let mut hit = 0;
    for drawn in 0..lost {
        let left = held - f64::from(drawn);
        if left > 0.0 && stream.uniform() * left < f64::from(vms - hit) {
            hit += 1;
        }
        if hit == vms {
            break;
        }
    }
    hit
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::rng::{Purpose, Streams};
    use scavsim_base::stats::Welford;

    #[test]
    fn a_vm_has_the_same_risk_in_clusters_of_every_size() {
        for vms in [1, 2, 8, 24, 30, 100] {
            let mut stream = Streams::new(1).stream(0, Purpose::Trial(u64::from(vms)));
            let mut hits = Welford::default();
            for _ in 0..100_000 {
                hits.add(f64::from(share(6, 24.0, vms, &mut stream)));
            }
            let expected = 6.0 * f64::from(vms) / 24.0;
            let error = hits.standard_deviation() / 100_000f64.sqrt();
            crate::tests::near(hits.mean(), expected, 4.0 * error + 1e-12);
        }
    }

    #[test]
    fn no_more_vms_are_lost_than_there_are() {
        let mut stream = Streams::new(1).stream(0, Purpose::Trial(0));
        for _ in 0..1000 {
            assert!(share(6, 6.5, 2, &mut stream) <= 2);
            assert!(share(40, 24.0, 30, &mut stream) <= 30);
            assert_eq!(share(24, 24.0, 24, &mut stream), 24);
            assert_eq!(share(3, 24.0, 0, &mut stream), 0);
        }
    }
}
