//! The cause of each flow's losses: what its own losses show, and what those of all flows between the same hosts do.

use std::collections::BTreeMap;

use losscause::Span;
use losscause::diagnosis::{Cause, Certainty, Diagnosis, Finding, LostPacket, OneRate, PolicerTest, Rounds, Unknown};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::flow::Path;
use crate::{Evidence, Flow, Loss, Vantage};

/// Why a flow's packets were lost, how sure that is, what shows it, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowDiagnosis {
    /// The cause and what shows it.
    pub diagnosis: Diagnosis,
}

impl Serialize for FlowDiagnosis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Diagnosis { cause, certainty, .. } = self.diagnosis;
        let (rate_bps, burst_bytes) = match cause {
            Cause::Policer { rate_bps, burst_bytes } => (rate_bps, burst_bytes),
            _ => (None, None),
        };
        let evidence: Vec<String> = self.diagnosis.findings().map(ToString::to_string).collect();
        let mut fields = serializer.serialize_struct("diagnosis", 6)?;
        fields.serialize_field("cause", cause.name())?;
        fields.serialize_field("certainty", certainty.name())?;
        fields.serialize_field("rate_bps", &rate_bps)?;
        fields.serialize_field("burst_bytes", &burst_bytes)?;
        fields.serialize_field("evidence", &evidence)?;
        fields.serialize_field("advice", &self.diagnosis.advice().to_string())?;
        fields.end()
    }
}

impl FlowDiagnosis {
    /// That a cause is not shown.
    pub(crate) fn not_shown(unknown: Unknown) -> Self {
        Self { diagnosis: Diagnosis::not_shown(unknown, [None; 2]) }
    }
}

/// The largest packet of a path whose packets' sizes are not known.
const USUAL_PACKET: u64 = 1_500;

/// Diagnoses every flow that lost something.
pub(crate) fn diagnose(flows: &mut [Flow]) {
    let mut paths: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.lost() > 0) {
        if let Some(path) = &flow.path {
            paths.entry(path.id).or_default().push(place);
        }
    }
    let mut rates: BTreeMap<u64, OneRate> = BTreeMap::new();
    for (id, places) in paths {
        let of_path: Vec<&Flow> = places.iter().map(|&place| &flows[place]).collect();
        rates.extend(one_rate(&of_path).map(|one| (id, one)));
    }
    for flow in flows.iter_mut().filter(|flow| flow.lost() > 0) {
        let one = flow.path.as_ref().and_then(|path| rates.get(&path.id));
        let diagnosis = of_flow(flow, one);
        flow.diagnosis = Some(diagnosis);
    }
}

/// The rate that the losses of all flows of a path agree on.
fn one_rate(flows: &[&Flow]) -> Option<OneRate> {
    let path: &Path = flows.first()?.path.as_ref()?;
    let mut losses: Vec<&Loss> = flows.iter().flat_map(|flow| &flow.losses).collect();
    losses.sort_by_key(|loss| loss.passage.at);
    let packet_bytes = losses.iter().map(|loss| loss.bytes).max().unwrap_or(USUAL_PACKET);
    let mut test = PolicerTest::new(path.begun, packet_bytes);
    // Of what a sender's capture has, these bytes did not pass.
    let mut lost_bytes = 0;
    for loss in &losses {
        let passage = loss.passage;
        test.on_loss(passage.at, passage.path_bytes?.saturating_sub(lost_bytes), passage.rtt);
        lost_bytes += if loss.evidence == Evidence::Gap { 0 } else { loss.bytes };
    }
    test.one_rate()
}

fn of_flow(flow: &Flow, one_rate: Option<&OneRate>) -> FlowDiagnosis {
    if flow.is_incomplete() {
        return FlowDiagnosis::not_shown(Unknown::NotObserved);
    }
    if flow.vantage == Vantage::Unknown {
        return FlowDiagnosis::not_shown(Unknown::NoPlace);
    }
    let mut losses: Vec<&Loss> = flow.losses.iter().collect();
    losses.sort_by_key(|loss| loss.passage.at);
    let is_unanswered =
        |loss: &&&Loss| flow.outages.iter().any(|outage| (outage.from_s..=outage.to_s).contains(&loss.time_s));
    let unanswered = losses.iter().filter(is_unanswered).count();
    if unanswered * 2 > losses.len() {
        let longest = flow.outages.iter().map(|outage| outage.to_s - outage.from_s).fold(0.0, f64::max);
        let longest = Span::from_secs_f64_rounded(longest);
        let finding = Finding::Unanswered(unanswered as u64, losses.len() as u64, longest);
        let (cause, certainty, findings) = (Cause::Outage, Certainty::Clear, [Some(finding), None, None]);
        return FlowDiagnosis { diagnosis: Diagnosis { cause, certainty, findings } };
    }
    let mut rounds = Rounds::default();
    for loss in losses {
        let passage = loss.passage;
        rounds.on_loss(&LostPacket {
            at: passage.at,
            is_by_timer: loss.is_by_timer(),
            flight_pkts: passage.flight_pkts,
            rtt: passage.rtt,
            queue: loss.verdicts.opinions.queue(),
        });
    }
    FlowDiagnosis { diagnosis: rounds.readings().diagnose(one_rate, flow.wire_packets) }
}

impl Loss {
    /// Whether only a timer showed it.
    pub(crate) fn is_by_timer(&self) -> bool {
        matches!(self.evidence, Evidence::Timeout | Evidence::TailProbe)
    }
}
