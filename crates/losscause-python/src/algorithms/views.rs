//! What a user's algorithm observes, as Python sees it. Times and spans are whole nanoseconds.

use losscause::observe::Newest;
use losscause::{Acked, Numbers, Observation, Signal, Span, Time};
use losscause_study::error::unknown;
use pyo3::prelude::*;

use crate::error::about;
use crate::input::whole;

/// A packet that arrived in order, with what it tells about the path.
#[pyclass(frozen, get_all, module = "losscause")]
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// Its sequence number, one per packet sent.
    seq: u64,
    /// When it arrived, by the receiver's clock, nanoseconds.
    at_ns: i64,
    /// Its relative trip time, nanoseconds, from a zero that is arbitrary; None if the packet does not say when it was
    /// sent.
    rott_ns: Option<i64>,
    /// Since the arrival before it, nanoseconds; None for the first packet of a stream.
    since_last_ns: Option<i64>,
    /// Packets missing between that arrival and this one.
    missing: u32,
    /// The relative trip time of the packet before it, nanoseconds, if known.
    rott_before_ns: Option<i64>,
}

#[pymethods]
impl Arrival {
    #[new]
    #[pyo3(signature = (seq, at_ns, *, rott_ns=None, since_last_ns=None, missing=0, rott_before_ns=None))]
    fn new(
        seq: u64,
        at_ns: i64,
        rott_ns: Option<i64>,
        since_last_ns: Option<i64>,
        missing: u32,
        rott_before_ns: Option<i64>,
    ) -> Self {
        Self { seq, at_ns, rott_ns, since_last_ns, missing, rott_before_ns }
    }

    fn __repr__(&self) -> String {
        format!(
            "Arrival({}, {}, rott_ns={}, since_last_ns={}, missing={}, rott_before_ns={})",
            self.seq,
            self.at_ns,
            known(self.rott_ns),
            known(self.since_last_ns),
            self.missing,
            known(self.rott_before_ns)
        )
    }
}

impl From<&Observation> for Arrival {
    fn from(arrival: &Observation) -> Self {
        let last = arrival.since_last;
        Self {
            seq: arrival.seq,
            at_ns: arrival.at.as_nanos(),
            rott_ns: arrival.delay.map(Span::as_nanos),
            since_last_ns: last.map(|interval| interval.span.as_nanos()),
            missing: arrival.missing,
            rott_before_ns: last.and_then(|interval| interval.delay_before).map(Span::as_nanos),
        }
    }
}

/// A lost packet, put to an algorithm at the first arrival after the gap, which it has taken in already.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct Loss {
    /// The lost packet's sequence number.
    seq: u64,
    /// The arrival that revealed the gap.
    revealed_by: Py<Arrival>,
}

#[pymethods]
impl Loss {
    #[new]
    fn new(seq: u64, revealed_by: Py<Arrival>) -> Self {
        Self { seq, revealed_by }
    }

    fn __repr__(&self) -> String {
        format!("Loss({}, {})", self.seq, self.revealed_by.get().__repr__())
    }
}

impl Loss {
    pub(super) fn of(loss: &losscause::Loss, revealed_by: &Observation, py: Python<'_>) -> PyResult<Self> {
        // At a sender, the packet before the one that is acknowledged behind the gap.
        let seq = if revealed_by.acked.is_some() { None } else { loss.seq() };
        let seq = seq.unwrap_or_else(|| revealed_by.seq.saturating_sub(1));
        Ok(Self { seq, revealed_by: Py::new(py, Arrival::from(revealed_by))? })
    }
}

/// An acknowledgement, as a sender observes it.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct AckSample {
    /// When it arrived, by the sender's clock, nanoseconds.
    at_ns: i64,
    /// Round-trip time of the newest packet that it acknowledges, nanoseconds, if known.
    rtt_ns: Option<i64>,
    /// Packets that it acknowledges for the first time.
    newly_acked_pkts: u64,
    /// By how many packets it advances the newest known arrival.
    spanned_pkts: u32,
    /// How many of the spanned packets are missing.
    newly_missing_pkts: u32,
    /// The number of the first of them, if the transport numbers its packets.
    missing_first: Option<u64>,
    /// The number of the last of them.
    missing_last: Option<u64>,
    /// Packets still unacknowledged after it.
    in_flight_pkts: u64,
    /// The congestion window before it, packets, if the transport has one.
    cwnd_pkts: Option<f64>,
}

#[pymethods]
impl AckSample {
    /// `spanned_pkts` is by default the newly acknowledged and the newly missing packets together.
    #[new]
    #[pyo3(signature = (at_ns, *, rtt_ns=None, newly_acked_pkts=1, spanned_pkts=None, newly_missing_pkts=0,
        missing_first=None, missing_last=None, in_flight_pkts=0, cwnd_pkts=None))]
    #[allow(clippy::too_many_arguments, reason = "named in Python")]
    fn new(
        at_ns: &Bound<'_, PyAny>,
        rtt_ns: Option<&Bound<'_, PyAny>>,
        newly_acked_pkts: u32,
        spanned_pkts: Option<u32>,
        newly_missing_pkts: u32,
        missing_first: Option<u64>,
        missing_last: Option<u64>,
        in_flight_pkts: u64,
        cwnd_pkts: Option<f64>,
    ) -> PyResult<Self> {
        let spanned_pkts = spanned_pkts.unwrap_or_else(|| newly_acked_pkts.saturating_add(newly_missing_pkts));
        if newly_missing_pkts > spanned_pkts {
            let problem =
                format!("newly_missing_pkts: is {newly_missing_pkts}, expected at most the {spanned_pkts} spanned");
            return Err(about(problem, None, Some("newly_missing_pkts")));
        }
        check_range(["missing_first", "missing_last"], missing_first, missing_last)?;
        Ok(Self {
            at_ns: whole(at_ns, "at_ns")? as i64,
            rtt_ns: rtt_ns.map(|rtt| whole(rtt, "rtt_ns")).transpose()?.map(|rtt| rtt as i64),
            newly_acked_pkts: newly_acked_pkts.into(),
            spanned_pkts,
            newly_missing_pkts,
            missing_first,
            missing_last,
            in_flight_pkts,
            cwnd_pkts: checked_window(cwnd_pkts)?,
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "AckSample({}, rtt_ns={}, newly_acked_pkts={}, spanned_pkts={}, newly_missing_pkts={}, missing_first={}, \
             missing_last={}, in_flight_pkts={}, cwnd_pkts={})",
            self.at_ns,
            known(self.rtt_ns),
            self.newly_acked_pkts,
            self.spanned_pkts,
            self.newly_missing_pkts,
            known(self.missing_first),
            known(self.missing_last),
            self.in_flight_pkts,
            known(self.cwnd_pkts)
        )
    }
}

impl From<&Observation> for AckSample {
    fn from(sample: &Observation) -> Self {
        let missing = sample.acked.and_then(|acked| acked.missing);
        Self {
            at_ns: sample.at.as_nanos(),
            rtt_ns: sample.delay.map(Span::as_nanos),
            newly_acked_pkts: sample.newly_acked_pkts(),
            spanned_pkts: sample.spanned,
            newly_missing_pkts: sample.missing,
            missing_first: missing.map(|numbers| numbers.first),
            missing_last: missing.map(|numbers| numbers.last),
            in_flight_pkts: sample.in_flight_pkts(),
            cwnd_pkts: sample.cwnd_pkts(),
        }
    }
}

impl AckSample {
    /// When it arrived, nanoseconds.
    pub(crate) fn at_ns(&self) -> i64 {
        self.at_ns
    }

    /// What it tells, behind the newest arrival known before.
    pub(crate) fn observation(&self, newest: &mut Newest) -> Observation {
        let mut acked = Acked::new(self.newly_acked_pkts);
        acked.missing = numbers(self.missing_first, self.missing_last);
        acked.in_flight_pkts = self.in_flight_pkts;
        acked.cwnd_pkts = self.cwnd_pkts;
        let (at, rtt) = (Time::from_nanos(self.at_ns), self.rtt_ns.map(Span::from_nanos));
        newest.advance(at, rtt, [self.spanned_pkts, self.newly_missing_pkts]).with_acked(acked)
    }
}

/// A loss that a sender declares.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct DeclaredLoss {
    /// When it was declared, by the sender's clock, nanoseconds.
    at_ns: i64,
    /// Why: "gap", "timeout", "ecn-mark" or "persistent-congestion". All but "gap" mean congestion by themselves.
    signal: &'static str,
    /// The number of the first lost packet, if the transport numbers its packets.
    first: Option<u64>,
    /// The number of the last lost packet.
    last: Option<u64>,
    /// How many packets were lost, as far as known.
    lost_pkts: u32,
    /// When the newest of them was sent, by the sender's clock, nanoseconds, if known.
    sent_at_ns: Option<i64>,
    /// Packets unacknowledged at that time, lost ones included.
    in_flight_pkts: u64,
    /// The congestion window at that time, packets, if the transport has one.
    cwnd_pkts: Option<f64>,
}

/// The signals by their names in Python.
const SIGNALS: [(&str, Signal); 4] = [
    ("gap", Signal::Gap),
    ("timeout", Signal::Timeout),
    ("ecn-mark", Signal::EcnMark),
    ("persistent-congestion", Signal::PersistentCongestion),
];

#[pymethods]
impl DeclaredLoss {
    #[new]
    #[pyo3(signature = (at_ns, *, signal="gap", first=None, last=None, lost_pkts=1, sent_at_ns=None, in_flight_pkts=0,
        cwnd_pkts=None))]
    #[allow(clippy::too_many_arguments, reason = "named in Python")]
    fn new(
        at_ns: &Bound<'_, PyAny>,
        signal: &str,
        first: Option<u64>,
        last: Option<u64>,
        lost_pkts: u32,
        sent_at_ns: Option<&Bound<'_, PyAny>>,
        in_flight_pkts: u64,
        cwnd_pkts: Option<f64>,
    ) -> PyResult<Self> {
        let Some((signal, _)) = SIGNALS.iter().find(|(name, _)| *name == signal) else {
            let problem = format!("the signal {}", unknown(signal, &SIGNALS.map(|(name, _)| name)));
            return Err(about(problem, None, Some("signal")));
        };
        check_range(["first", "last"], first, last)?;
        Ok(Self {
            at_ns: whole(at_ns, "at_ns")? as i64,
            signal,
            first,
            last,
            lost_pkts,
            sent_at_ns: sent_at_ns.map(|sent| whole(sent, "sent_at_ns")).transpose()?.map(|sent| sent as i64),
            in_flight_pkts,
            cwnd_pkts: checked_window(cwnd_pkts)?,
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "DeclaredLoss({}, signal=\"{}\", first={}, last={}, lost_pkts={}, sent_at_ns={}, in_flight_pkts={}, \
             cwnd_pkts={})",
            self.at_ns,
            self.signal,
            known(self.first),
            known(self.last),
            self.lost_pkts,
            known(self.sent_at_ns),
            self.in_flight_pkts,
            known(self.cwnd_pkts)
        )
    }
}

impl From<&losscause::Loss> for DeclaredLoss {
    fn from(loss: &losscause::Loss) -> Self {
        Self {
            at_ns: loss.at.as_nanos(),
            signal: SIGNALS.iter().find(|(_, signal)| *signal == loss.signal).map_or("gap", |(name, _)| name),
            first: loss.numbers.map(|numbers| numbers.first),
            last: loss.numbers.map(|numbers| numbers.last),
            lost_pkts: loss.lost_pkts,
            sent_at_ns: loss.sent_at.map(Time::as_nanos),
            in_flight_pkts: loss.in_flight_pkts,
            cwnd_pkts: loss.cwnd_pkts,
        }
    }
}

impl From<&DeclaredLoss> for losscause::Loss {
    fn from(loss: &DeclaredLoss) -> Self {
        let signal = SIGNALS.iter().find(|(name, _)| *name == loss.signal).map_or(Signal::Gap, |(_, signal)| *signal);
        let mut made = Self::new(Time::from_nanos(loss.at_ns), signal);
        made.numbers = numbers(loss.first, loss.last);
        made.lost_pkts = loss.lost_pkts;
        made.sent_at = loss.sent_at_ns.map(Time::from_nanos);
        made.in_flight_pkts = loss.in_flight_pkts;
        made.cwnd_pkts = loss.cwnd_pkts;
        made
    }
}

/// None, or the number.
fn known(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "None".to_owned(), |number| number.to_string())
}

/// A range of packets; one packet if only its first number is known.
pub(crate) fn numbers(first: Option<u64>, last: Option<u64>) -> Option<Numbers> {
    first.map(|first| Numbers { first, last: last.unwrap_or(first).max(first) })
}

/// Refuses a range whose end is before its start, or that has no start.
fn check_range(names: [&str; 2], first: Option<u64>, last: Option<u64>) -> PyResult<()> {
    let problem = match (first, last) {
        (Some(first), Some(last)) if last < first => format!("is {last}, expected {first} or more as {}", names[0]),
        (None, Some(_)) => format!("is there without {}, expected both", names[0]),
        _ => return Ok(()),
    };
    Err(about(format!("{}: {problem}", names[1]), None, Some(names[1])))
}

fn checked_window(pkts: Option<f64>) -> PyResult<Option<f64>> {
    match pkts {
        Some(pkts) if !(pkts >= 0.0 && pkts.is_finite()) => {
            Err(about(format!("cwnd_pkts: is {pkts}, expected a number, 0 or more"), None, Some("cwnd_pkts")))
        }
        _ => Ok(pkts),
    }
}
