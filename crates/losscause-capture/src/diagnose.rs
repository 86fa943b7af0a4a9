//! The cause of each flow's losses: what its own losses show, and what those of all flows between
//! the same hosts do.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use losscause::diagnosis::{
    BucketTest, Cause, Certainty, DelayRank, Diagnosis, Finding, LostPacket, Moments, OneRate,
    Passed, PathRate, PolicerTest, QueueSeen, Readings, RecentDelay, Rounds, Unknown,
};
use losscause::{Span, Time};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::cost::USED_UP;
use crate::flow::{Course, Path};
use crate::{Cost, Evidence, Fit, Flow, Loss, Protocol, Vantage, next};

/// Why a flow's packets were lost, how sure that is, what shows it, what it cost, and what to do.
///
/// ```
/// use std::fs::File;
///
/// use losscause::diagnosis::Certainty;
/// use losscause_capture::{Cost, First, FlowDiagnosis, Options, analyze};
///
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let analysis = analyze(capture, "sender.pcap.gz", &Options::all())?;
/// let Some(FlowDiagnosis { diagnosis, cost: Some(cost), next, .. }) =
///     &analysis.flows[0].diagnosis
/// else {
///     panic!("it lost packets");
/// };
/// // Random losses and full queues: no single cause.
/// assert_eq!(diagnosis.certainty, Certainty::CannotTell);
/// let Cost { goodput_bps, path_rate_bps, .. } = *cost;
/// assert!(goodput_bps < 0.5 * path_rate_bps.expect("a queue stood"));
/// // The same for people, of the flow that lost most.
/// let [First { cause, next: commands, .. }] = &analysis.first()[..] else {
///     panic!("it lost packets for one cause")
/// };
/// assert_eq!(cause, "Cannot tell why: a queue and the air fit alike.");
/// assert_eq!(commands, next);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FlowDiagnosis {
    /// The cause and what shows it.
    pub diagnosis: Diagnosis,
    /// How fast the path was seen to be, if a queue stood.
    pub path: Option<PathRate>,
    /// What the losses cost; none if that was not seen.
    pub cost: Option<Cost>,
    /// The commands to run next, in their order. `FILE` stands for the capture, words in angle
    /// brackets for what the reader knows.
    pub next: Vec<String>,
    /// Where its capture was taken.
    pub vantage: Vantage,
}

impl FlowDiagnosis {
    /// What to do, as a sentence without its end.
    pub fn advice(&self) -> String {
        let advice = self.diagnosis.advice_on(self.path);
        match (self.diagnosis.cause, self.vantage) {
            (Cause::NotShown(_), Vantage::Both) if self.diagnosis.may_be_told_by_both_ends() => {
                "A longer transfer, captured at both ends, may tell".to_owned()
            }
            (Cause::Policer { .. }, _) => self.advice_at_limit().unwrap_or(advice.to_string()),
            (Cause::Air, Vantage::Receiver) => format!(
                "{advice} (losscause docs kernel, quic, webrtc). It is the sender that must change, not this end"
            ),
            (Cause::Air, _) => format!("{advice} (losscause docs kernel, quic, webrtc)"),
            _ => advice.to_string(),
        }
    }

    /// Of a flow that got nearly all that a policer leaves: no shaper brings more.
    fn advice_at_limit(&self) -> Option<String> {
        let cost = self.cost.filter(|cost| cost.used.is_some_and(|used| used >= USED_UP))?;
        let again =
            cost.again.map(|again| format!(" ({:.1} % were)", 100.0 * again)).unwrap_or_default();
        Some(format!(
            "Its rate is the limit, the plan's or the provider's: a shaper just below it saves packets sent again{again}, and \
             brings no more rate"
        ))
    }

    /// What its losses cost, if a policer's rate is known, or if the path was used up, or hardly
    /// used and that is certain: "The flow got 4.1 Mb/s of its path's 9.6 Mb/s".
    pub fn cost_in_short(&self) -> Option<String> {
        let is_policer = matches!(self.diagnosis.cause, Cause::Policer { .. });
        self.cost?.in_short(is_policer)
    }
}

impl Serialize for FlowDiagnosis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Diagnosis { cause, certainty, .. } = self.diagnosis;
        let (rate_bps, burst_bytes) = match cause {
            Cause::Policer { rate_bps, burst_bytes } => (rate_bps, burst_bytes),
            _ => (None, None),
        };
        let reason = match cause {
            Cause::NotShown(unknown) => Some(unknown.to_string()),
            _ => None,
        };
        let evidence: Vec<String> = self.diagnosis.findings().map(ToString::to_string).collect();
        let mut fields = serializer.serialize_struct("diagnosis", 9)?;
        fields.serialize_field("cause", cause.name())?;
        fields.serialize_field("certainty", certainty.name())?;
        fields.serialize_field("reason", &reason)?;
        fields.serialize_field("rate_bps", &rate_bps)?;
        fields.serialize_field("burst_bytes", &burst_bytes)?;
        fields.serialize_field("evidence", &evidence)?;
        fields.serialize_field("cost", &self.cost)?;
        fields.serialize_field("advice", &self.advice())?;
        fields.serialize_field("next", &self.next)?;
        fields.end()
    }
}

/// With more between its hosts than so many times its own bytes, a flow shares what they have.
const SHARED: f64 = 1.1;
/// The headers of TCP over IPv4, with timestamps.
const HEADERS: u64 = 52;
/// The largest packet of a path whose packets' sizes are not known.
const USUAL_PACKET: u64 = 1_500;

/// What a diagnosis has to know of the capture.
pub(crate) struct Captured<'a> {
    /// What the capture may have dropped is what seems lost of these flows.
    pub(crate) doubted: &'a BTreeSet<u64>,
    /// Its snap length cut options of TCP.
    pub(crate) is_cut: bool,
    /// Its name.
    pub(crate) file: &'a str,
    /// How long it lasts, seconds.
    pub(crate) duration_s: f64,
}

impl Captured<'_> {
    /// Whether a flow's packets are those of one connection, by all that shows: no packet waits
    /// longer than the capture lasts.
    fn is_of_one(&self, flow: &Flow) -> bool {
        let longest_ms = 1e3 * self.duration_s;
        let is_longer = |loss: &&Loss| loss.queueing_ms.is_some_and(|ms| ms > longest_ms);
        let longer = flow.losses.iter().filter(is_longer).count();
        let is_usual = flow.queueing.is_some_and(|queueing| queueing.p95_ms > longest_ms);
        !flow.is_mixed() && !is_usual && longer * 2 <= flow.losses.len()
    }

    /// Why the capture cannot show the cause of a flow's losses, if it cannot.
    fn unknown(&self, flow: &Flow, diagnosis: &Diagnosis) -> Option<Unknown> {
        let is_cut = self.is_cut && flow.protocol == Protocol::Tcp;
        match diagnosis.cause {
            _ if !self.is_of_one(flow) => Some(Unknown::Mixed),
            Cause::NotShown(
                Unknown::NoDelays
                | Unknown::NoPlace
                | Unknown::OnlyTimers
                | Unknown::QueueOrAir
                | Unknown::PolicerOrAir,
            ) if is_cut => Some(Unknown::CutOptions),
            _ => None,
        }
    }
}

/// Diagnoses every flow that lost something.
pub(crate) fn diagnose(flows: &mut [Flow], captured: &Captured<'_>) {
    let mut paths: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.lost() > 0) {
        if let Some(path) = &flow.path {
            paths.entry(path.id).or_default().push(place);
        }
    }
    let mut diagnoses: BTreeMap<u64, Diagnosis> = BTreeMap::new();
    let pathless = flows.iter().filter(|flow| flow.lost() > 0 && flow.path.is_none());
    diagnoses.extend(pathless.map(|flow| (flow.id, of_flow(flow, None, || None))));
    for places in paths.into_values() {
        let of_path: Vec<&Flow> = places.iter().map(|&place| &flows[place]).collect();
        diagnoses.extend(of_flows(&of_path));
    }
    let mut carried: BTreeMap<u64, u64> = BTreeMap::new();
    for (path, bytes) in flows.iter().filter_map(|flow| Some((flow.path.as_ref()?, flow.bytes))) {
        *carried.entry(path.id).or_default() += bytes;
    }
    let tcp = flows.iter().filter(|flow| flow.protocol == Protocol::Tcp);
    let most_bytes = tcp.map(|flow| flow.bytes).max();
    for flow in flows.iter_mut().filter(|flow| flow.lost() > 0) {
        let id = flow.path.as_ref().map(|path| path.id);
        let not_observed = Diagnosis::not_shown(Unknown::NotObserved, [None; 2]);
        let of_own = diagnoses.get(&flow.id).filter(|_| !captured.doubted.contains(&flow.id));
        let mut diagnosis = of_own.copied().unwrap_or(not_observed);
        if let Some(unknown) = captured.unknown(flow, &diagnosis) {
            diagnosis = Diagnosis::not_shown(unknown, [None; 2]);
        }
        let of_cause = Fit::policed(flow, diagnosis.cause);
        if let Some(fit) = of_cause.or_else(|| Fit::overflowed(flow, &diagnosis)) {
            flow.fit = Some(fit);
        }
        let of_path = id.and_then(|id| carried.get(&id)).copied().unwrap_or_default();
        let is_shared = of_path as f64 > SHARED * flow.bytes as f64;
        let path = flow.path_rate();
        let cost = Cost::of(flow, diagnosis.cause, is_shared);
        let names = next::Names::of(captured.file, flow, Some(flow.bytes) == most_bytes);
        let next = next::commands(flow, diagnosis.cause, path, &names);
        let vantage = flow.vantage;
        flow.diagnosis = Some(FlowDiagnosis { diagnosis, path, cost, next, vantage });
        if diagnosis.findings().any(|finding| matches!(finding, Finding::Overflows(..))) {
            set_apart(&mut flow.losses);
        }
    }
}

/// Sets the losses apart that were not in an overflow of the queue.
fn set_apart(losses: &mut [Loss]) {
    let mut in_order: Vec<usize> = (0..losses.len()).collect();
    in_order.sort_by_key(|&place| losses[place].passage.at);
    let mut rounds = Rounds::default();
    let round_of = |place: &usize| {
        rounds.on_loss(&losses[*place].as_lost());
        rounds.count()
    };
    let of: Vec<usize> = in_order.iter().map(round_of).collect();
    for (place, round) in in_order.into_iter().zip(of) {
        losses[place].is_apart = losses[place].is_by_timer() || !rounds.is_large(round);
    }
}

/// The diagnoses of the flows of a path, by their numbers.
fn of_flows(flows: &[&Flow]) -> Vec<(u64, Diagnosis)> {
    let mut losses: Vec<&Loss> = flows.iter().flat_map(|flow| &flow.losses).collect();
    losses.sort_by_key(|loss| loss.passage.at);
    let departures = LazyCell::new(|| departures(flows, &losses));
    let one_rate = one_rate(flows, &losses).map(|one_rate| match may_be_policed(&losses) {
        true => OneRate {
            bucket: departures.as_ref().map_or(one_rate.bucket, Departures::bucket),
            ..one_rate
        },
        false => one_rate,
    });
    let moments = LazyCell::new(|| departures.as_ref()?.moments(usual_round_trip(&losses)));
    let of_flow = |flow: &&Flow| (flow.id, of_flow(flow, one_rate.as_ref(), || *moments));
    flows.iter().map(of_flow).collect()
}

/// The rate that the losses of all flows of a path agree on.
fn one_rate(flows: &[&Flow], losses: &[&Loss]) -> Option<OneRate> {
    let path: &Path = flows.first()?.path.as_ref()?;
    let packet_bytes = losses.iter().map(|loss| loss.bytes).max().unwrap_or(USUAL_PACKET);
    let mut test = PolicerTest::new(path.begun, packet_bytes);
    // Of what a sender's capture has, these bytes did not pass.
    let mut lost_bytes = 0;
    for loss in losses {
        let passage = loss.passage;
        test.on_loss(passage.at, passage.path_bytes?.saturating_sub(lost_bytes), passage.rtt);
        lost_bytes += if loss.evidence == Evidence::Gap { 0 } else { loss.bytes };
    }
    test.one_rate()
}

/// Whether half of the losses met a queue that is too short to have dropped them.
fn may_be_policed(losses: &[&Loss]) -> bool {
    let queues = || losses.iter().filter_map(|loss| loss.verdicts.opinions.queue());
    queues().filter(QueueSeen::may_be_policed).count() * 2 > queues().count()
}

/// The round-trip time at half of the losses.
fn usual_round_trip(losses: &[&Loss]) -> Span {
    let mut round_trips: Vec<Span> = losses.iter().filter_map(|loss| loss.passage.rtt).collect();
    round_trips.sort_unstable();
    round_trips.get(round_trips.len() / 2).copied().unwrap_or_default()
}

/// The packets of a path as they left, if all of them were captured there. `losses` are in the
/// order in which the lost packets were sent.
fn departures(flows: &[&Flow], losses: &[&Loss]) -> Option<Departures> {
    let are_sent = flows.iter().all(|flow| flow.vantage == Vantage::Sender)
        && losses.iter().all(|loss| loss.evidence != Evidence::Gap);
    let courses = flows.iter().filter_map(|flow| flow.measured.as_ref()).map(|one| &one.course);
    let lost = losses.iter().filter_map(|loss| Some((loss.passage.path_bytes?, loss.bytes)));
    let payload = losses.iter().map(|loss| loss.bytes).max().unwrap_or(USUAL_PACKET);
    let begun = flows.iter().find_map(|flow| Some(flow.path.as_ref()?.begun));
    are_sent.then(|| Departures::of(courses, lost, payload, begun)).flatten()
}

/// The packets of a path as they left, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Departures {
    packets: Vec<Passed>,
    /// Of a full packet.
    packet_bytes: u64,
    /// It begins with the path.
    is_new: bool,
}

impl Departures {
    /// Of what left for a path. `lost` are the bytes of the path before each lost packet, in their
    /// order, and its payload; `payload` is that of a full packet. None without a packet.
    ///
    /// ```
    /// use losscause::diagnosis::BucketTest;
    /// use losscause::{Span, Time};
    /// use losscause_capture::{Course, Departures};
    ///
    /// let mut course = Course::default();
    /// let at = |k: u64| Time::ZERO + Span::from_millis(k as i64);
    /// (0..100).for_each(|k| course.on_packet(at(k), 1_052 * k));
    /// let lost = (1..10).map(|k| (1_052 * 10 * k, 1_000));
    /// let departures = Departures::of([&course].into_iter(), lost, 1_000, None).expect("packets");
    /// assert_ne!(departures.bucket(), BucketTest::NotTested);
    /// let moments = departures.moments(Span::from_millis(1)).expect("nine losses");
    /// assert_eq!(moments.losses, 9);
    /// ```
    pub fn of<'a>(
        courses: impl Iterator<Item = &'a Course> + Clone,
        lost: impl Iterator<Item = (u64, u64)>,
        payload: u64,
        begun: Option<Time>,
    ) -> Option<Self> {
        // What is not kept of one of them is left out of all.
        let first =
            courses.clone().filter_map(|course| course.iter().next()).map(|one| one.1).max();
        let first = first?;
        let kept = |&(_, path_bytes): &(Time, u64)| path_bytes >= first;
        let mut sent: Vec<(Time, u64)> = Vec::new();
        for course in courses {
            course.iter().filter(kept).for_each(|packet| sent.push(packet));
        }
        sent.sort_unstable_by_key(|&(_, path_bytes)| path_bytes);
        // A bucket is full when its path is new.
        let is_new = begun
            .zip(sent.first())
            .is_some_and(|(begun, &(at, path_bytes))| path_bytes == 0 && at <= begun);
        Some(Self { packets: with_lost(&sent, lost), packet_bytes: payload + HEADERS, is_new })
    }

    /// The same in the order of time, where what left was told later and in another order.
    #[must_use]
    pub fn by_time(mut self) -> Self {
        self.packets.sort_by_key(|packet| packet.at);
        self
    }

    /// What every packet says of a token bucket.
    pub fn bucket(&self) -> BucketTest {
        // A bucket is empty at a loss.
        let first_loss = self.packets.iter().position(|packet| packet.is_lost);
        let from = if self.is_new { 0 } else { first_loss.unwrap_or_default() };
        BucketTest::of(&self.packets[from..], self.packet_bytes)
    }

    /// How the moments of the losses rank by what was sent before them.
    pub fn moments(&self, round_trip: Span) -> Option<Moments> {
        Moments::of(&self.packets, round_trip)
    }
}

/// The packets that were sent, each with the bytes of the path before it, and whether they were
/// lost.
fn with_lost(sent: &[(Time, u64)], lost: impl Iterator<Item = (u64, u64)>) -> Vec<Passed> {
    let begun = sent.first().map(|first| first.1).unwrap_or_default();
    let mut lost = lost.skip_while(|&(path_bytes, _)| path_bytes < begun).peekable();
    let mut course = Vec::with_capacity(sent.len());
    let ends = sent.iter().skip(1).map(|next| next.1);
    for (&(at, mut from), end) in sent.iter().zip(ends) {
        // A segment that the host will cut may be lost in part.
        while let Some((path_bytes, bytes)) = lost.next_if(|loss| loss.0 < end) {
            let passed = path_bytes.saturating_sub(from);
            if passed > 0 {
                course.push(Passed { at, bytes: passed, is_lost: false });
            }
            let rest = end - path_bytes.max(from);
            let bytes = (bytes + HEADERS).min(rest);
            course.push(Passed { at, bytes, is_lost: true });
            from = path_bytes.max(from) + bytes;
        }
        if from < end {
            course.push(Passed { at, bytes: end - from, is_lost: false });
        }
    }
    course
}

fn of_flow(
    flow: &Flow,
    one_rate: Option<&OneRate>,
    moments: impl FnOnce() -> Option<Moments>,
) -> Diagnosis {
    if flow.is_incomplete() {
        return Diagnosis::not_shown(Unknown::NotObserved, [None; 2]);
    }
    if flow.vantage == Vantage::Unknown {
        return Diagnosis::not_shown(Unknown::NoPlace, [None; 2]);
    }
    let mut losses: Vec<&Loss> = flow.losses.iter().collect();
    losses.sort_by_key(|loss| loss.passage.at);
    let is_unanswered = |loss: &&&Loss| {
        flow.outages.iter().any(|outage| (outage.from_s..=outage.to_s).contains(&loss.time_s))
    };
    let unanswered = losses.iter().filter(is_unanswered).count();
    if unanswered * 2 > losses.len() {
        let longest =
            flow.outages.iter().map(|outage| outage.to_s - outage.from_s).fold(0.0, f64::max);
        let longest = Span::from_secs_f64_rounded(longest);
        let finding = Finding::Unanswered(unanswered as u64, losses.len() as u64, longest);
        let cause = Cause::Outage;
        let certainty = Certainty::Clear;
        let findings = [Some(finding), None, None];
        return Diagnosis { cause, certainty, findings };
    }
    let mut rounds = Rounds::default();
    // Of the first loss of each round.
    let mut delays: Vec<RecentDelay> = Vec::new();
    for loss in losses {
        let before = rounds.count();
        let lost = loss.as_lost();
        rounds.on_loss(&lost);
        delays.extend(lost.queue.filter(|_| rounds.count() > before).map(|queue| queue.recent));
    }
    let is_at_end = matches!(flow.vantage, Vantage::Sender | Vantage::Receiver);
    let measured = flow.measured.as_ref().filter(|_| is_at_end);
    let delays = measured.and_then(|measured| DelayRank::of(&delays, &measured.recent_delays));
    let readings = Readings { delays, ..rounds.readings() };
    readings.diagnose_with(one_rate, flow.wire_packets, moments)
}

impl Flow {
    /// How fast its path was seen to empty a queue: near one rate, or for most of the time.
    fn path_rate(&self) -> Option<PathRate> {
        let fit = self.fit.as_ref().filter(|fit| fit.policer.is_none())?;
        let is_usual = fit.is_steady() || fit.standing_s * 2.0 >= self.pace?.lasted_s;
        is_usual.then(|| PathRate {
            rate_bps: fit.rate_bps as u64,
            least_bps: fit.rate_p10_bps as u64,
            round_trip: Span::from_secs_f64_rounded(fit.rtt_ms / 1e3),
        })
    }
}

impl Loss {
    /// As its diagnosis takes it.
    fn as_lost(&self) -> LostPacket {
        let passage = self.passage;
        LostPacket {
            at: passage.at,
            is_by_timer: self.is_by_timer(),
            flight_pkts: passage.flight_pkts,
            rtt: passage.rtt,
            queue: self.verdicts.opinions.queue(),
        }
    }

    /// Whether only a timer showed it: then nothing shows its cause.
    pub fn is_by_timer(&self) -> bool {
        matches!(self.evidence, Evidence::Timeout | Evidence::TailProbe)
    }
}
