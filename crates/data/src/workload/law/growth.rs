use super::CommunicationLaw;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    Root,
    Linear,
    /// 2(K − 1)/K.
    Ring,
    /// log₂ K.
    Tree,
}

scavsim_base::named!(Growth: Root = "√K", Linear = "K", Ring = "(K − 1)/K", Tree = "log K");

impl Growth {
    pub fn value_at(self, workers: u32) -> f64 {
        let k = f64::from(workers);
        match self {
            Growth::Root => k.sqrt(),
            Growth::Linear => k,
            Growth::Ring => 2.0 * (k - 1.0) / k,
            Growth::Tree => libm::log2(k),
        }
    }

    /// The law c + d·growth.
    pub fn law(self, base_s: f64, slope_s: f64) -> CommunicationLaw {
        match self {
            Growth::Root => CommunicationLaw::Root {
                base_s,
                per_root_s: slope_s,
            },
            Growth::Linear => CommunicationLaw::Linear {
                base_s,
                per_worker_s: slope_s,
            },
            Growth::Ring => CommunicationLaw::Ring {
                base_s,
                per_pass_s: slope_s,
            },
            Growth::Tree => CommunicationLaw::Tree {
                base_s,
                per_level_s: slope_s,
            },
        }
    }

    /// The growth of a law c + d·growth, with c and d; `None` of one that is of another form.
    pub fn from_law(law: CommunicationLaw) -> Option<(Growth, f64, f64)> {
        match law {
            CommunicationLaw::Root { base_s, per_root_s } => {
                Some((Growth::Root, base_s, per_root_s))
            }
            CommunicationLaw::Linear {
                base_s,
                per_worker_s,
            } => Some((Growth::Linear, base_s, per_worker_s)),
            CommunicationLaw::Tree {
                base_s,
                per_level_s,
            } => Some((Growth::Tree, base_s, per_level_s)),
            CommunicationLaw::Ring { base_s, per_pass_s } => {
                Some((Growth::Ring, base_s, per_pass_s))
            }
            CommunicationLaw::StepSlope { .. } | CommunicationLaw::Saturating { .. } => None,
        }
    }
}
