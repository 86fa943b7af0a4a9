//! What a user's algorithm sees, as Python has it: the core's observation and loss. Times and spans
//! are whole nanoseconds.

use losscause::observe::Newest;
use losscause::{Acked, Numbers, Signal, Span, Time};
use losscause_study::error::unknown;
use pyo3::prelude::*;

use crate::error::about;
use crate::input::whole;

/// A packet that arrived in order, at a receiver; an acknowledgement, at a sender.
#[pyclass(frozen, get_all, module = "losscause")]
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// When it came, by this end's clock, nanoseconds.
    at_ns: i64,
    /// The number of the newest arrival: its sequence number at a receiver, how many packets are
    /// accounted for at a sender.
    seq: u64,
    /// Nanoseconds; None if it is not known. At a receiver the relative trip time, from a zero that
    /// is arbitrary; at a sender the round-trip time of the newest packet that is acknowledged.
    delay_ns: Option<i64>,
    /// Packets since the newest arrival before, this one included; 0 for an acknowledgement that
    /// shows no newer arrival.
    spanned: u32,
    /// How many of the spanned packets are missing.
    missing: u32,
    /// Since the newest arrival before, nanoseconds; None for the first.
    since_last_ns: Option<i64>,
    /// The delay of that arrival, nanoseconds, if known.
    delay_before_ns: Option<i64>,
    /// Packets that are acknowledged for the first time; None at a receiver.
    newly_acked_pkts: Option<u64>,
    /// The number of the first missing packet, at a sender whose transport numbers its packets.
    missing_first: Option<u64>,
    /// The number of the last of them.
    missing_last: Option<u64>,
    /// Packets still unacknowledged after it; 0 at a receiver.
    in_flight_pkts: u64,
    /// The congestion window before it, packets, if the transport has one.
    cwnd_pkts: Option<f64>,
}

#[pymethods]
impl Observation {
    /// `spanned` is by default the arrived and the missing packets together.
    #[new]
    #[pyo3(signature = (at_ns, *, seq=0, delay_ns=None, spanned=None, missing=0, since_last_ns=None,
        delay_before_ns=None, newly_acked_pkts=None, missing_first=None, missing_last=None, in_flight_pkts=0,
        cwnd_pkts=None))]
    #[allow(clippy::too_many_arguments, reason = "named in Python")]
    fn new(
        at_ns: &Bound<'_, PyAny>,
        seq: u64,
        delay_ns: Option<i64>,
        spanned: Option<u32>,
        missing: u32,
        since_last_ns: Option<i64>,
        delay_before_ns: Option<i64>,
        newly_acked_pkts: Option<u32>,
        missing_first: Option<u64>,
        missing_last: Option<u64>,
        in_flight_pkts: u64,
        cwnd_pkts: Option<f64>,
    ) -> PyResult<Self> {
        let spanned =
            spanned.unwrap_or_else(|| newly_acked_pkts.unwrap_or(1).saturating_add(missing));
        if missing > spanned {
            let problem = format!("missing: is {missing}, expected at most the {spanned} spanned");
            return Err(about(problem, None, Some("missing")));
        }
        check_range(["missing_first", "missing_last"], missing_first, missing_last)?;
        Ok(Self {
            at_ns: whole(at_ns, "at_ns")? as i64,
            seq,
            delay_ns,
            spanned,
            missing,
            since_last_ns,
            delay_before_ns,
            newly_acked_pkts: newly_acked_pkts.map(u64::from),
            missing_first,
            missing_last,
            in_flight_pkts,
            cwnd_pkts: checked_window(cwnd_pkts)?,
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "Observation({}, seq={}, delay_ns={}, spanned={}, missing={}, since_last_ns={}, delay_before_ns={}, \
             newly_acked_pkts={}, missing_first={}, missing_last={}, in_flight_pkts={}, cwnd_pkts={})",
            self.at_ns,
            self.seq,
            known(self.delay_ns),
            self.spanned,
            self.missing,
            known(self.since_last_ns),
            known(self.delay_before_ns),
            known(self.newly_acked_pkts),
            known(self.missing_first),
            known(self.missing_last),
            self.in_flight_pkts,
            known(self.cwnd_pkts)
        )
    }
}

impl From<&losscause::Observation> for Observation {
    fn from(seen: &losscause::Observation) -> Self {
        let last = seen.since_last;
        let missing = seen.acked.and_then(|acked| acked.missing);
        Self {
            at_ns: seen.at.as_nanos(),
            seq: seen.seq,
            delay_ns: seen.delay.map(Span::as_nanos),
            spanned: seen.spanned,
            missing: seen.missing,
            since_last_ns: last.map(|interval| interval.span.as_nanos()),
            delay_before_ns: last.and_then(|interval| interval.delay_before).map(Span::as_nanos),
            newly_acked_pkts: seen.acked.map(|acked| acked.newly_acked_pkts),
            missing_first: missing.map(|numbers| numbers.first),
            missing_last: missing.map(|numbers| numbers.last),
            in_flight_pkts: seen.in_flight_pkts(),
            cwnd_pkts: seen.cwnd_pkts(),
        }
    }
}

impl Observation {
    /// When it came, nanoseconds.
    pub(crate) fn at_ns(&self) -> i64 {
        self.at_ns
    }

    /// What it tells at a sender, behind the newest arrival known before. By default it
    /// acknowledges one packet.
    ///
    /// # Errors
    /// If its round-trip time is negative.
    pub(crate) fn at_sender(&self, newest: &mut Newest) -> PyResult<losscause::Observation> {
        if let Some(rtt_ns) = self.delay_ns.filter(|rtt_ns| *rtt_ns < 0) {
            let problem = format!("delay_ns: is {rtt_ns}, expected a round-trip time, 0 or more");
            return Err(about(problem, None, Some("delay_ns")));
        }
        let mut acked = Acked::new(self.newly_acked_pkts.unwrap_or(1));
        acked.missing = numbers(self.missing_first, self.missing_last);
        acked.in_flight_pkts = self.in_flight_pkts;
        acked.cwnd_pkts = self.cwnd_pkts;
        let at = Time::from_nanos(self.at_ns);
        let rtt = self.delay_ns.map(Span::from_nanos);
        Ok(newest.advance(at, rtt, [self.spanned, self.missing]).with_acked(acked))
    }
}

/// Lost packets, put to an algorithm: one of a gap at a receiver, those of a loss event at a
/// sender.
#[pyclass(frozen, get_all, module = "losscause")]
pub(crate) struct Loss {
    /// When the gap was seen, or the loss was declared, by this end's clock, nanoseconds.
    at_ns: i64,
    /// Why: "gap", "timeout", "ecn-mark" or "persistent-congestion". All but "gap" mean congestion
    /// by themselves.
    signal: &'static str,
    /// The number of the first lost packet, if the transport numbers its packets.
    first: Option<u64>,
    /// The number of the last lost packet.
    last: Option<u64>,
    /// How many packets were lost, as far as known.
    lost_pkts: u32,
    /// The observation that revealed the gap, which the algorithm has taken in already; None if it
    /// is not known.
    revealed_by: Option<Py<Observation>>,
    /// When the newest of them was sent, by the sender's clock, nanoseconds; None at a receiver.
    sent_at_ns: Option<i64>,
    /// Packets unacknowledged at that time, lost ones included; 0 at a receiver.
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
impl Loss {
    #[new]
    #[pyo3(signature = (at_ns, *, signal="gap", first=None, last=None, lost_pkts=1, revealed_by=None,
        sent_at_ns=None, in_flight_pkts=0, cwnd_pkts=None))]
    #[allow(clippy::too_many_arguments, reason = "named in Python")]
    fn new(
        at_ns: &Bound<'_, PyAny>,
        signal: &str,
        first: Option<u64>,
        last: Option<u64>,
        lost_pkts: u32,
        revealed_by: Option<Py<Observation>>,
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
            revealed_by,
            sent_at_ns: sent_at_ns
                .map(|sent| whole(sent, "sent_at_ns"))
                .transpose()?
                .map(|sent| sent as i64),
            in_flight_pkts,
            cwnd_pkts: checked_window(cwnd_pkts)?,
        })
    }

    /// The number of the first lost packet, as `first`.
    #[getter]
    fn seq(&self) -> Option<u64> {
        self.first
    }

    fn __repr__(&self) -> String {
        format!(
            "Loss({}, signal=\"{}\", first={}, last={}, lost_pkts={}, revealed_by={}, sent_at_ns={}, \
             in_flight_pkts={}, cwnd_pkts={})",
            self.at_ns,
            self.signal,
            known(self.first),
            known(self.last),
            self.lost_pkts,
            known(self.revealed_by.as_ref().map(|seen| seen.get().__repr__())),
            known(self.sent_at_ns),
            self.in_flight_pkts,
            known(self.cwnd_pkts)
        )
    }
}

impl Loss {
    pub(super) fn of(loss: &losscause::Loss, py: Python<'_>) -> PyResult<Self> {
        let revealed_by = loss
            .revealed_by
            .as_ref()
            .map(|seen| Py::new(py, Observation::from(seen)))
            .transpose()?;
        Ok(Self {
            at_ns: loss.at.as_nanos(),
            signal: SIGNALS
                .iter()
                .find(|(_, signal)| *signal == loss.signal)
                .map_or("gap", |(name, _)| name),
            first: loss.numbers.map(|numbers| numbers.first),
            last: loss.numbers.map(|numbers| numbers.last),
            lost_pkts: loss.lost_pkts,
            revealed_by,
            sent_at_ns: loss.sent_at.map(Time::as_nanos),
            in_flight_pkts: loss.in_flight_pkts,
            cwnd_pkts: loss.cwnd_pkts,
        })
    }
}

impl From<&Loss> for losscause::Loss {
    /// Without the observation that revealed it, which a sender finds among its own.
    fn from(loss: &Loss) -> Self {
        let signal = SIGNALS
            .iter()
            .find(|(name, _)| *name == loss.signal)
            .map_or(Signal::Gap, |(_, signal)| *signal);
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
        (Some(first), Some(last)) if last < first => {
            format!("is {last}, expected {first} or more as {}", names[0])
        }
        (None, Some(_)) => format!("is there without {}, expected both", names[0]),
        _ => return Ok(()),
    };
    Err(about(format!("{}: {problem}", names[1]), None, Some(names[1])))
}

fn checked_window(pkts: Option<f64>) -> PyResult<Option<f64>> {
    match pkts {
        Some(pkts) if !(pkts >= 0.0 && pkts.is_finite()) => Err(about(
            format!("cwnd_pkts: is {pkts}, expected a number, 0 or more"),
            None,
            Some("cwnd_pkts"),
        )),
        _ => Ok(pkts),
    }
}
