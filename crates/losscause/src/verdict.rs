//! What an LDA answers: a verdict, and the numbers that led to it.
//!
//! An algorithm gives the numbers that led to its verdict. A caller reads them:
//!
//! ```
//! use losscause::verdict::{Clue, Limit};
//! use losscause::{Amount, Evidence, Input, Judgement, Reason, Span, Verdict};
//!
//! let clue = Clue { what: "jitter of", reading: 2.0, unit: " ms" };
//! let evidence = Evidence::new("mine", "delay", Span::from_millis(12)).beside([Some(clue), None]);
//! let judged = evidence.wireless_below(Span::from_millis(20));
//! assert_eq!(
//!     judged.to_string(),
//!     "mine: delay 12.000 ms, jitter of 2.0 ms (wireless below 20.000 ms): wireless"
//! );
//!
//! fn margin_ms(judgement: &Judgement) -> Option<f64> {
//!     match judgement.reason {
//!         Reason::Measured(Evidence {
//!             value: Amount::Time(value),
//!             limits: [Some(Limit { at, .. }), None],
//!             ..
//!         }) => Some(at.value() - value.as_millis_f64()),
//!         _ => None,
//!     }
//! }
//! assert_eq!(margin_ms(&judged), Some(8.0));
//! let unknown = Judgement::without(Input::Delay);
//! assert_eq!((unknown.verdict, margin_ms(&unknown)), (Verdict::Undecided, None));
//! ```

use core::fmt;

use crate::Span;
use crate::loss::Signal;

/// Why an LDA believes a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// A queue overflowed: slow down.
    Congestion,
    /// The radio channel corrupted the packet; the loss does not depend on the load.
    Wireless,
    /// Not enough was observed to tell. A transport treats it as its paper says, else as
    /// congestion.
    Undecided,
}

impl Verdict {
    /// Whether a transport should treat the loss as it would treat a received packet.
    pub fn is_wireless(self) -> bool {
        self == Verdict::Wireless
    }

    /// Wireless if that holds, else congestion.
    pub const fn wireless_if(holds: bool) -> Self {
        if holds { Verdict::Wireless } else { Verdict::Congestion }
    }
}

/// A verdict with what led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// The probability of a wireless loss, 0 to 1, from an algorithm that gives one.
    pub probability: Option<f64>,
    /// Why.
    pub reason: Reason,
}

impl Judgement {
    /// A verdict without a probability.
    pub const fn new(verdict: Verdict, reason: Reason) -> Self {
        Self { verdict, probability: None, reason }
    }

    /// Undecided, because an input is missing.
    pub const fn without(input: Input) -> Self {
        Self::new(Verdict::Undecided, Reason::Missing { input })
    }

    /// Congestion by its signal; no algorithm is asked.
    pub const fn signalled(signal: Signal) -> Self {
        Self::new(Verdict::Congestion, Reason::Signalled { signal })
    }

    /// A verdict that rests on no number.
    pub const fn stated(verdict: Verdict, scheme: &'static str, why: &'static str) -> Self {
        Self::new(verdict, Reason::Stated { scheme, why })
    }

    /// A verdict from what was measured.
    pub const fn measured(verdict: Verdict, evidence: Evidence) -> Self {
        Self::new(verdict, Reason::Measured(evidence))
    }

    /// The numbers that were compared, if there are any.
    pub const fn evidence(&self) -> Option<&Evidence> {
        match &self.reason {
            Reason::Measured(evidence) => Some(evidence),
            _ => None,
        }
    }
}

/// Why a verdict was given. `Display` writes it as one sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Something was measured and held against limits.
    Measured(Evidence),
    /// The scheme gives no number: a constant, a label, an oracle, an algorithm that says its
    /// verdict only.
    Stated {
        /// The scheme that decided.
        scheme: &'static str,
        /// What it says instead: "whatever was observed".
        why: &'static str,
    },
    /// An input that the algorithm needs is missing.
    Missing {
        /// Which one.
        input: Input,
    },
    /// The signal that declared the loss decides; no algorithm was asked.
    Signalled {
        /// A timeout, a mark, or persistent congestion.
        signal: Signal,
    },
}

impl Reason {
    /// The scheme that decided, if one did.
    pub const fn scheme(&self) -> Option<&'static str> {
        match *self {
            Reason::Measured(Evidence { scheme, .. }) | Reason::Stated { scheme, .. } => {
                Some(scheme)
            }
            Reason::Missing { .. } | Reason::Signalled { .. } => None,
        }
    }
}

/// What an algorithm measured, and the limits that it held it against.
///
/// `Display`: `mBiaz: inter-arrival time 81.280 ms (wireless from 81.280 ms, wireless below 91.440
/// ms)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evidence {
    /// The scheme that decided, by its published name. A hybrid names its base scheme.
    pub scheme: &'static str,
    /// What was measured: "inter-arrival time".
    pub quantity: &'static str,
    /// The value that was measured.
    pub value: Amount,
    /// The limits between congestion and wireless, at most two.
    pub limits: [Option<Limit>; 2],
    /// Other readings that counted, the heaviest first.
    pub clues: [Option<Clue>; 2],
    /// Packets lost in the gap, where the limits depend on it.
    pub lost: Option<u32>,
}

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Amount {
    /// A time.
    Time(Span),
    /// A number and its unit: "packets", "%", "dB"; empty for a mere count.
    Number(f64, &'static str),
}

/// A limit between congestion and wireless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// On which side is what: "wireless below", "congestion from".
    pub name: &'static str,
    /// Where it lies.
    pub at: Amount,
}

/// A reading that counted as evidence. `Display` writes it as a noun phrase: `delay at 12 % of its
/// range`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clue {
    /// What was read: "delay at".
    pub what: &'static str,
    /// The value that was read.
    pub reading: f64,
    /// The unit, with a space in front: " % of its range".
    pub unit: &'static str,
}

impl Evidence {
    /// A measured value, held against nothing yet.
    pub fn new(scheme: &'static str, quantity: &'static str, value: impl Into<Amount>) -> Self {
        Self {
            scheme,
            quantity,
            value: value.into(),
            limits: [None; 2],
            clues: [None; 2],
            lost: None,
        }
    }

    /// The same with one more limit. A third is left out.
    #[must_use]
    pub fn held_against(mut self, name: &'static str, at: impl Into<Amount>) -> Self {
        let place = if self.limits[0].is_none() { 0 } else { 1 };
        self.limits[place] = Some(Limit { name, at: at.into() });
        self
    }

    /// The same for a gap of `lost` packets, on which the limits depend.
    #[must_use]
    pub const fn for_gap_of(self, lost: u32) -> Self {
        Self { lost: Some(lost), ..self }
    }

    /// The same with other readings that counted.
    #[must_use]
    pub const fn beside(self, clues: [Option<Clue>; 2]) -> Self {
        Self { clues, ..self }
    }

    /// The judgement of a value that means a wireless loss below `limit`, and congestion from there
    /// on.
    pub fn wireless_below(self, limit: impl Into<Amount>) -> Judgement {
        let limit = limit.into();
        let wireless = match (self.value, limit) {
            (Amount::Time(value), Amount::Time(limit)) => value < limit,
            (value, limit) => value.value() < limit.value(),
        };
        Judgement::measured(
            Verdict::wireless_if(wireless),
            self.held_against("wireless below", limit),
        )
    }

    /// The limits.
    pub fn limits(&self) -> impl Iterator<Item = &Limit> {
        self.limits.iter().flatten()
    }
}

impl Amount {
    /// A time of `ms` milliseconds, rounded to the nearest nanosecond.
    pub fn millis(ms: f64) -> Self {
        Self::Time(Span::from_secs_f64_rounded(ms / 1e3))
    }

    /// A number of packets.
    pub const fn packets(pkts: f64) -> Self {
        Self::Number(pkts, "packets")
    }

    /// The amount's value: a time in milliseconds, a number in its unit.
    pub fn value(self) -> f64 {
        match self {
            Self::Time(span) => span.as_millis_f64(),
            Self::Number(number, _) => number,
        }
    }

    /// The unit of [`Amount::value`].
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "ms",
            Self::Number(_, unit) => unit,
        }
    }
}

impl From<Span> for Amount {
    fn from(span: Span) -> Self {
        Self::Time(span)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(span) => span.fmt(f),
            // A whole number is written as one.
            Self::Number(number, "") => write!(f, "{number}"),
            Self::Number(number, unit) if number as i64 as f64 == number => {
                write!(f, "{number} {unit}")
            }
            Self::Number(number, unit) => write!(f, "{number:.2} {unit}"),
        }
    }
}

impl fmt::Display for Clue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = if self.reading < 9.95 { 1 } else { 0 };
        write!(f, "{} {:.decimals$}{}", self.what, self.reading, self.unit)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.scheme, self.quantity, self.value)?;
        for clue in self.clues.iter().flatten() {
            write!(f, ", {clue}")?;
        }
        for (place, limit) in self.limits().enumerate() {
            write!(f, "{}{} {}", if place == 0 { " (" } else { ", " }, limit.name, limit.at)?;
        }
        if self.limits().next().is_some() {
            f.write_str(")")?;
        }
        match self.lost {
            Some(lost) => write!(f, " for {lost} lost packet{}", if lost == 1 { "" } else { "s" }),
            None => Ok(()),
        }
    }
}

/// An input that was missing when an algorithm was asked. `Display` writes it as a noun phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The delay of the arrival that shows the gap: no timestamp, or no round-trip time.
    Delay,
    /// An arrival before the gap.
    Earlier,
    /// The observation that shows the gap: there was none, or it is too long ago.
    Gap,
    /// Something else, as a noun phrase: "a congestion window".
    Other(&'static str),
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Input::Delay => "the delay of the packet behind the gap",
            Input::Earlier => "an arrival before the gap",
            Input::Gap => "an observation that shows the gap",
            Input::Other(phrase) => phrase,
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Congestion => "congestion",
            Verdict::Wireless => "wireless",
            Verdict::Undecided => "undecided",
        })
    }
}

impl fmt::Display for Judgement {
    /// One sentence: `mBiaz: inter-arrival time 81.280 ms lies in [81.280 ms, 91.440 ms) for 1 lost
    /// packet: wireless`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.verdict)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Measured(evidence) => evidence.fmt(f),
            Reason::Stated { scheme, why } => write!(f, "{scheme}: {why}"),
            Reason::Missing { input } => write!(f, "{input} is missing"),
            Reason::Signalled { signal } => f.write_str(match signal {
                Signal::Gap => "later packets were acknowledged",
                Signal::Timeout => "the retransmission timer expired",
                Signal::EcnMark => "a queue marked a packet",
                Signal::PersistentCongestion => "congestion is persistent",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    fn spacing(us: i64) -> Evidence {
        let time = |us| Amount::Time(Span::from_micros(us));
        Evidence::new("mBiaz", "inter-arrival time", time(us))
            .held_against("wireless from", time(81_280))
            .held_against("wireless below", time(91_440))
    }

    #[test]
    fn a_judgement_is_one_sentence() {
        let measured = |verdict, evidence| Judgement::measured(verdict, evidence).to_string();
        assert_eq!(
            measured(Verdict::Wireless, spacing(81_280).for_gap_of(1)),
            "mBiaz: inter-arrival time 81.280 ms (wireless from 81.280 ms, wireless below 91.440 ms) \
             for 1 lost packet: wireless"
        );
        let queued = |pkts| {
            Evidence::new("Vegas buffer", "packets in queues", Amount::packets(pkts))
                .held_against("wireless up to", Amount::packets(1.0))
                .held_against("congestion from", Amount::packets(3.0))
        };
        assert_eq!(
            measured(Verdict::Undecided, queued(2.5)),
            "Vegas buffer: packets in queues 2.50 packets (wireless up to 1 packets, congestion from 3 packets): \
             undecided"
        );
        let outliers =
            Evidence::new("Flip Flop", "outliers among the last RTTs", Amount::Number(5.0, ""));
        assert_eq!(
            measured(
                Verdict::Congestion,
                outliers.held_against("wireless up to", Amount::Number(4.0, ""))
            ),
            "Flip Flop: outliers among the last RTTs 5 (wireless up to 4): congestion"
        );
        let clue = Clue { what: "delay at", reading: 12.0, unit: " % of its range" };
        let weighed =
            Evidence::new("Sift", "evidence for a wireless loss", Amount::Number(3.5, "dB"));
        assert_eq!(
            measured(Verdict::Wireless, weighed.beside([Some(clue), None])),
            "Sift: evidence for a wireless loss 3.50 dB, delay at 12 % of its range: wireless"
        );
    }

    #[test]
    fn a_verdict_without_numbers_says_why() {
        assert_eq!(
            Judgement::without(Input::Other("a smallest inter-arrival time")).to_string(),
            "a smallest inter-arrival time is missing: undecided"
        );
        assert_eq!(
            Judgement::signalled(Signal::Timeout).to_string(),
            "the retransmission timer expired: congestion"
        );
        assert_eq!(
            Judgement::stated(Verdict::Wireless, "mine", "no reason given").to_string(),
            "mine: no reason given: wireless"
        );
    }
}
