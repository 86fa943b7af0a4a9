//! An algorithm at a receiver, fed with a user's own packets: one by one, or in columns.

use losscause::{Algorithm, AnyAlgorithm, Differentiator, Packet, Time, on_judged};
use pyo3::prelude::*;

use super::Judgement;
use super::columns::{Given, Numbers, unsorted};
use super::losses::Losses;
use crate::columns::{Unit, together};
use crate::error::about;
use crate::input::whole;

/// The columns by their names.
const NAMES: [(&str, Unit); 5] = [
    ("seq", Unit::Whole),
    ("at_ns", Unit::Whole),
    ("at_s", Unit::Seconds),
    ("sent_ns", Unit::Whole),
    ("sent_s", Unit::Seconds),
];

/// An algorithm that judges the losses among packets that arrive.
pub(super) struct Receiver {
    receiver: Differentiator<AnyAlgorithm>,
    name: &'static str,
    /// When the last packet arrived, nanoseconds.
    last_ns: u64,
}

impl Receiver {
    pub(super) fn new(algorithm: AnyAlgorithm, name: &'static str) -> Self {
        Self { receiver: Differentiator::new(algorithm), name, last_ns: 0 }
    }

    /// Takes in a packet, and judges every packet that is missing before it.
    pub(super) fn on_packet(
        &mut self,
        seq: &Bound<'_, PyAny>,
        at_ns: &Bound<'_, PyAny>,
        sent_ns: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Judgement>> {
        let seq = whole(seq, "seq")?;
        let at = whole(at_ns, "at_ns")?;
        let sent = sent_ns.map(|sent| whole(sent, "sent_ns")).transpose()?;
        if sent.is_none() {
            self.check_sent()?;
        }
        if at < self.last_ns {
            let last = self.last_ns;
            return Err(unsorted(
                &format!("at_ns: is {at}, and the packet before it arrived at {last}"),
                "at_ns",
            ));
        }
        self.last_ns = at;
        let mut judged = Vec::new();
        let mut keep = on_judged(|loss, judgement| {
            judged.push(Judgement { seq: loss.seq(), judgement: *judgement });
        });
        self.receiver.on_packet(packet(seq, at as i64, sent.map(|sent| sent as i64)), &mut keep);
        Ok(judged)
    }

    /// Takes in many packets, and judges those that are missing.
    pub(super) fn classify(
        &mut self,
        py: Python<'_>,
        given: &Given<'_, '_>,
        reasons: bool,
    ) -> PyResult<Losses> {
        let columns = given.columns(&NAMES)?;
        let seq = columns.needed(&["seq"])?;
        let at = columns.needed(&["at_ns", "at_s"])?;
        let sent = columns.numbers(&["sent_ns", "sent_s"])?;
        if sent.is_none() {
            self.check_sent()?;
        }
        for other in [Some(&at), sent.as_ref()].into_iter().flatten() {
            other.check_length(&seq)?;
        }
        py.detach(|| {
            // Everything is checked before the first packet is taken in: an error changes nothing.
            [Some(&seq), sent.as_ref()].into_iter().flatten().try_for_each(Numbers::check)?;
            self.last_ns = at.check_sorted(self.last_ns)?;
            Ok(self.take(&seq, &at, sent.as_ref(), reasons))
        })
    }

    /// Refuses packets without the time at which they were sent, if the algorithm compares trip
    /// times.
    fn check_sent(&self) -> PyResult<()> {
        if !self.receiver.algorithm().needs().delay {
            return Ok(());
        }
        let problem = format!(
            "{} compares trip times, expected sent_ns or sent_s with every packet",
            self.name
        );
        Err(about(problem, None, Some("sent_ns")))
    }

    fn take(
        &mut self,
        seq: &Numbers<'_>,
        at: &Numbers<'_>,
        sent: Option<&Numbers<'_>>,
        reasons: bool,
    ) -> Losses {
        let mut losses = Losses::at_receiver(reasons);
        let mut row = 0;
        match sent {
            Some(sent) => together([&seq.parts, &at.parts, &sent.parts], |[seq, at, sent]| {
                for ((&seq, &at), &sent) in seq.iter().zip(at).zip(sent) {
                    let packet = packet(seq as u64, at, Some(sent));
                    let mut keep = on_judged(|loss, judgement| {
                        losses.push(loss.seq().unwrap_or(0), row, judgement);
                    });
                    self.receiver.on_packet(packet, &mut keep);
                    row += 1;
                }
            }),
            None => together([&seq.parts, &at.parts], |[seq, at]| {
                for (&seq, &at) in seq.iter().zip(at) {
                    let packet = packet(seq as u64, at, None);
                    let mut keep = on_judged(|loss, judgement| {
                        losses.push(loss.seq().unwrap_or(0), row, judgement);
                    });
                    self.receiver.on_packet(packet, &mut keep);
                    row += 1;
                }
            }),
        }
        losses
    }
}

fn packet(seq: u64, at_ns: i64, sent_ns: Option<i64>) -> Packet {
    Packet { seq, at: Time::from_nanos(at_ns), sent: sent_ns.map(Time::from_nanos) }
}
