//! Expected run times, in closed form.

use scavsim_data::cloud::lifetimes::Lifetime;

/// Daly's expected run time of `work_h` hours of work in segments of `interval_h` = τ, each followed by a checkpoint of δ =
/// `write_h`, losses memoryless and M = `mtbf_h` apart, R = `restart_h` after each: M exp(R/M) (exp((τ + δ)/M) − 1) work/τ.
/// Losses may strike during checkpoints and restarts. Exact for a whole number of segments. Source: Daly 2006, eq. 20.
pub fn daly_h(work_h: f64, interval_h: f64, write_h: f64, restart_h: f64, mtbf_h: f64) -> f64 {
    let segment = libm::expm1((interval_h + write_h) / mtbf_h);
    mtbf_h * libm::exp(restart_h / mtbf_h) * segment * (work_h / interval_h)
}

/// ∫ₛ^(s+T) t dF(t): hours that a job of T = `job_h` without checkpoints is expected to lose, started on a VM of age s =
/// `age_h` that is lost at most once. Counts the VM's whole age as lost, with the odds of a new VM, so it is exact from age 0
/// only. Source: Kadupitiya, Jadhao & Sharma, HPDC 2020.
pub fn increase_h(life: &Lifetime, age_h: f64, job_h: f64) -> f64 {
    life.lost_until(age_h + job_h) - life.lost_until(age_h)
}

/// Probability that a VM of age `age_h` = s is lost before a job of `job_h` = T hours on it is done: (F(s + T) − F(s)) / (1 − F(s)), 1
/// where no VM comes to that age. A job done at the deadline is done.
pub fn lost_during(life: &Lifetime, age_h: f64, job_h: f64) -> f64 {
    let reached = life.survival(age_h);
    if reached > 0.0 {
        (life.cdf_before(age_h + job_h) - life.cdf(age_h)) / reached
    } else {
        1.0
    }
}

/// F(s + T) − F(s), not conditional on the age s, and 1 behind the deadline: the odds in the public code of HPDC 2020.
pub fn lost_during_of_new(life: &Lifetime, age_h: f64, job_h: f64) -> f64 {
    let ends_h = age_h + job_h;
    if ends_h > life.cap_h() {
        1.0
    } else {
        life.cdf_before(ends_h) - life.cdf(age_h)
    }
}

/// Expected run time of a job of `job_h` hours without checkpoints that starts again on a new VM, after
/// `restart_h`, until one lives long enough: (E[min(life, T)] + F(T) R) / (1 − F(T)). Infinite if none does.
pub fn from_scratch_h(life: &Lifetime, job_h: f64, restart_h: f64) -> f64 {
    // A VM that is lost when the job ends has done the job.
    let lost = life.cdf_before(job_h);
    if lost < 1.0 {
        (life.mean_until(job_h) + lost * restart_h) / (1.0 - lost)
    } else {
        f64::INFINITY
    }
}

/// Expected run time of a job that starts on a VM of age s = `age_h`, then on new VMs after R = `restart_h`: E[min(rest, T)]
/// + P(rest < T) (R + [`from_scratch_h`]), given a life longer than s.
pub fn from_age_h(life: &Lifetime, age_h: f64, job_h: f64, restart_h: f64) -> f64 {
    let reached = life.survival(age_h);
    let again_h = restart_h + from_scratch_h(life, job_h, restart_h);
    if reached <= 0.0 {
        return again_h;
    }
    let until_h = (life.mean_until(age_h + job_h) - life.mean_until(age_h)) / reached;
    let lost = (life.cdf_before(age_h + job_h) - life.cdf(age_h)) / reached;
    // 0 times infinity is no number.
    if lost > 0.0 {
        until_h + lost * again_h
    } else {
        until_h
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{drawn, life_of, memoryless, near};
    use scavsim_base::rng::{Purpose, Stream, Streams};
    use scavsim_base::stats::Welford;

    fn published() -> Lifetime {
        life_of("gcp-2019-bathtub")
    }

    fn stream(identity: u64) -> Stream {
        Streams::new(5).stream(0, Purpose::Trial(identity))
    }

    /// The job as it happens: memoryless losses strike in work, checkpoints and restarts.
    #[test]
    fn a_simulated_job_with_checkpoints_takes_as_long_as_daly_says() {
        for (interval, write, restart, mtbf) in [
            (0.5, 1.0 / 60.0, 0.02, 1.0),
            (0.25, 0.05, 0.1, 0.6),
            (1.0, 0.1, 0.0, 5.0),
        ] {
            let life = memoryless(mtbf);
            let mut stream = stream(mtbf.to_bits());
            let mut seen = Welford::default();
            for _ in 0..20_000 {
                let (mut clock, mut segments) = (0.0, 0);
                let mut alive = life.sample(&mut stream);
                let mut needed = interval + write;
                while segments < 10 {
                    if alive >= needed {
                        alive -= needed;
                        clock += needed;
                        segments += 1;
                        needed = interval + write;
                    } else {
                        clock += alive;
                        alive = life.sample(&mut stream);
                        // The restart, and then the segment from its beginning.
                        while alive < restart {
                            clock += alive;
                            alive = life.sample(&mut stream);
                        }
                        alive -= restart;
                        clock += restart;
                        needed = interval + write;
                    }
                }
                seen.add(clock);
            }
            let expected = daly_h(10.0 * interval, interval, write, restart, mtbf);
            drawn(&seen, expected, 4.0);
        }
    }

    #[test]
    fn a_job_without_checkpoints_takes_as_long_as_the_life_of_vms_says() {
        let life = published();
        let mut stream = stream(1);
        let mut seen = Welford::default();
        for _ in 0..50_000 {
            let mut clock = 0.0;
            loop {
                let alive = life.sample(&mut stream);
                if alive >= 6.0 {
                    break;
                }
                clock += alive + 0.02;
            }
            seen.add(clock + 6.0);
        }
        drawn(&seen, from_scratch_h(&life, 6.0, 0.02), 4.0);
        assert_eq!(from_scratch_h(&life, 25.0, 0.0), f64::INFINITY);
    }

    /// From VMs that have lived a while, too: in the calm, towards the deadline, and beyond it.
    #[test]
    fn a_job_on_a_used_vm_takes_as_long_as_the_rest_of_its_life_says() {
        let life = published();
        for age in [0.0, 1.0, 8.0, 18.5, 22.0] {
            let mut stream = stream(2);
            let mut seen = Welford::default();
            for _ in 0..50_000 {
                let mut clock = 0.0;
                let mut alive = life.sample_rest(age, &mut stream);
                while alive < 6.0 {
                    clock += alive + 0.02;
                    alive = life.sample(&mut stream);
                }
                seen.add(clock + 6.0);
            }
            drawn(&seen, from_age_h(&life, age, 6.0, 0.02), 4.0);
        }
        let new = from_scratch_h(&life, 6.0, 0.02);
        near(from_age_h(&life, 0.0, 6.0, 0.02), new, 1e-9);
        assert_eq!(from_age_h(&life, 24.0, 6.0, 0.02), 0.02 + new);
        assert_eq!(from_age_h(&memoryless(1e300), 3.0, 6.0, 0.02), 6.0);
    }

    /// Published: 0.41 of jobs of 6 h fail, and such a job takes 0.369 h more; one of 10 h 22 min more.
    #[test]
    fn increases_are_the_published_ones() {
        let life = published();
        near(life.cdf(6.0), 0.413, 5e-4);
        near(increase_h(&life, 0.0, 6.0), 0.369, 5e-4);
        near(increase_h(&life, 0.0, 10.0) * 60.0, 22.0, 0.5);
        // From the age of 8 h a job of 6 h meets the calm, from 20 h the deadline.
        let of_new = increase_h(&life, 0.0, 6.0);
        assert!(increase_h(&life, 8.0, 6.0) <= of_new);
        assert!(increase_h(&life, 20.0, 6.0) > of_new);
    }
}
