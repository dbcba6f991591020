//! A question to a testbed and its answer, as files have them.

use serde::{Deserialize, Serialize};

use super::metered::{TestbedExchange, TestbedRequest};
use super::{Extent, Target};
use scavsim_data::space::Space;

/// A question and its answer. What was not seen is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptStep {
    pub configuration: String,
    pub asked: RequestedExtent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communication_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_normalised: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ObservedTarget>,
    pub spent_s: f64,
    pub spent_usd: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedExtent {
    /// So many steps until the noise has settled.
    ColdStart(u64),
    Steps(u64),
    /// This share of a run to the target.
    Share(f64),
    /// A cheap version of a run that has this share of it.
    Fidelity(f64),
    ToTarget,
    /// A run to the target, given up after so many seconds.
    ToTargetInSeconds(f64),
    /// A run to the target, given up when it has cost so many USD.
    ToTargetForUsd(f64),
    Seconds(f64),
    Usd(f64),
    /// So many passes over every layer.
    Profile(u64),
}

/// What was seen of the time to the target, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservedTarget {
    MoreThanS(f64),
    ReachedS(f64),
    /// Never: the run failed after so long.
    FailedS(f64),
}

impl RequestedExtent {
    fn from_request(asked: TestbedRequest) -> RequestedExtent {
        match asked {
            TestbedRequest::ColdStart(steps) => RequestedExtent::ColdStart(steps),
            TestbedRequest::Probe(Extent::Steps(steps)) => RequestedExtent::Steps(steps),
            TestbedRequest::Probe(Extent::Share(share)) => RequestedExtent::Share(share),
            TestbedRequest::Probe(Extent::Fidelity(share)) => RequestedExtent::Fidelity(share),
            TestbedRequest::Probe(Extent::ToTarget) => RequestedExtent::ToTarget,
            TestbedRequest::Probe(Extent::ToTargetInSeconds(s)) => {
                RequestedExtent::ToTargetInSeconds(s)
            }
            TestbedRequest::Probe(Extent::ToTargetForUsd(usd)) => {
                RequestedExtent::ToTargetForUsd(usd)
            }
            TestbedRequest::Probe(Extent::Seconds(s)) => RequestedExtent::Seconds(s),
            TestbedRequest::Probe(Extent::Usd(usd)) => RequestedExtent::Usd(usd),
            TestbedRequest::Probe(Extent::Profile(passes)) => RequestedExtent::Profile(passes),
        }
    }

    pub fn into_request(self) -> TestbedRequest {
        TestbedRequest::Probe(match self {
            RequestedExtent::ColdStart(steps) => return TestbedRequest::ColdStart(steps),
            RequestedExtent::Steps(steps) => Extent::Steps(steps),
            RequestedExtent::Share(share) => Extent::Share(share),
            RequestedExtent::Fidelity(share) => Extent::Fidelity(share),
            RequestedExtent::ToTarget => Extent::ToTarget,
            RequestedExtent::ToTargetInSeconds(s) => Extent::ToTargetInSeconds(s),
            RequestedExtent::ToTargetForUsd(usd) => Extent::ToTargetForUsd(usd),
            RequestedExtent::Seconds(s) => Extent::Seconds(s),
            RequestedExtent::Usd(usd) => Extent::Usd(usd),
            RequestedExtent::Profile(passes) => Extent::Profile(passes),
        })
    }
}

impl TranscriptStep {
    pub fn from_exchange(noted: &TestbedExchange, space: &Space) -> TranscriptStep {
        let seen = &noted.seen;
        TranscriptStep {
            configuration: space.name(noted.configuration),
            asked: RequestedExtent::from_request(noted.asked),
            steps: seen.steps,
            step_s: seen.step_s,
            compute_s: seen.compute_s,
            communication_s: seen.communication_s,
            noise_normalised: seen.noise_normalised,
            quality: seen.quality,
            target: match seen.target {
                Target::Unknown => None,
                Target::MoreThan(s) => Some(ObservedTarget::MoreThanS(s)),
                Target::Reached(s) => Some(ObservedTarget::ReachedS(s)),
                Target::Failed(s) => Some(ObservedTarget::FailedS(s)),
            },
            spent_s: noted.seconds,
            spent_usd: noted.usd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_a_question_asks_the_same_again() {
        let extents = [
            Extent::Steps(7),
            Extent::Share(0.1),
            Extent::ToTarget,
            Extent::ToTargetInSeconds(1e9 / 3.0),
            Extent::ToTargetForUsd(0.7),
            Extent::Seconds(0.1 + 0.2),
            Extent::Usd(1e-3),
            Extent::Profile(2),
            Extent::Fidelity(0.25),
        ];
        let all = extents.into_iter().map(TestbedRequest::Probe);
        for asked in all.chain([TestbedRequest::ColdStart(100)]) {
            let written =
                serde_json::to_string(&RequestedExtent::from_request(asked)).expect("it is plain");
            let read: RequestedExtent = serde_json::from_str(&written).expect("it was written");
            assert_eq!(read.into_request(), asked, "{written}");
        }
    }
}
