//! What an LDA answers: a verdict, and the numbers that led to it.

use core::fmt;

use crate::Span;
use crate::ack::Signal;

/// Why an LDA believes a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// A queue overflowed: slow down.
    Congestion,
    /// The radio channel corrupted the packet; the loss does not depend on the load.
    Wireless,
    /// Not enough was observed to tell. A transport treats it as its paper says, else as congestion.
    Undecided,
}

impl Verdict {
    /// Whether a transport should treat the loss as it would treat a received packet.
    pub fn is_wireless(self) -> bool {
        self == Verdict::Wireless
    }
}

/// A verdict with its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// The numbers that were compared.
    pub reason: Reason,
}

/// What was compared with what. `Display` writes it as one sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The algorithm does not look at the packet (`always …`).
    Unconditional,
    /// The truth was handed in (oracles in a simulator).
    Told,
    /// The receiver's acknowledgement says it (`as told`).
    Labelled,
    /// The algorithm gives a verdict only, without the numbers behind it.
    Unstated {
        /// The scheme that decided.
        scheme: &'static str,
    },
    /// The signal that declared the loss decides; no algorithm was asked.
    Signalled {
        /// A timeout, a mark, or persistent congestion.
        signal: Signal,
    },
    /// An input that the algorithm needs is missing.
    Missing {
        /// Which one.
        input: Input,
    },
    /// A measured span was held against an interval: wireless if `at_least <= measured < below`.
    Compared {
        /// The scheme that decided, by its published name (ZBS names its base scheme).
        scheme: &'static str,
        /// What was measured: "inter-arrival time", "relative ROTT" (relative to the first packet's: only differences
        /// between ROTTs mean anything).
        quantity: &'static str,
        /// Its value.
        measured: Span,
        /// The smallest wireless value, if there is a lower limit.
        at_least: Option<Span>,
        /// The upper limit of wireless values (exclusive), if there is one.
        below: Option<Span>,
        /// Packets lost in the gap.
        lost: u32,
    },
    /// Marks among the last round-trip times were counted (Flip Flop): congestion if there are more than `most`.
    Counted {
        /// The scheme that decided.
        scheme: &'static str,
        /// How many were marked.
        marked: u32,
        /// Among how many.
        of: u32,
        /// The most that speak for a wireless loss.
        most: u32,
    },
    /// The packets that a sender believes to wait in queues were held against two limits: wireless up to the first,
    /// congestion from the second on.
    Queued {
        /// The scheme that decided.
        scheme: &'static str,
        /// Packets that wait.
        pkts: f64,
        /// The most that speak for a wireless loss.
        wireless_up_to: f64,
        /// The fewest that speak for congestion.
        congestion_from: f64,
    },
    /// Lost packets were counted (n-th loss, roll-back): congestion if there are at least `congestion_from`.
    Lost {
        /// The scheme that decided.
        scheme: &'static str,
        /// How many packets were lost.
        pkts: u64,
        /// Since when: "since the first loss of the episode".
        since: &'static str,
        /// The fewest that speak for congestion.
        congestion_from: u64,
    },
    /// The share of lost packets was held against a limit (drop rate): congestion above it.
    LossRate {
        /// The scheme that decided.
        scheme: &'static str,
        /// The share, 0 to 1.
        rate: f64,
        /// The largest share that speaks for a wireless loss.
        wireless_up_to: f64,
    },
    /// Another packet had been lost within the same round trip (fqRTT).
    LostAgain {
        /// The scheme that decided.
        scheme: &'static str,
        /// How long before.
        before: Span,
        /// The round-trip time.
        rtt: Span,
    },
    /// The smallest and largest round-trip time of the rounds grew or fell (CDG).
    Gradients {
        /// The scheme that decided.
        scheme: &'static str,
        /// What follows for the queue: "full", "not full", "unknown".
        queue: &'static str,
        /// How much the minimum has grown over the last rounds.
        of_min: Span,
        /// The same of the maximum.
        of_max: Span,
    },
    /// Evidence was weighed (Sift): wireless if its sum is more than `above`.
    Weighed {
        /// The scheme that decided.
        scheme: &'static str,
        /// The two readings with the most weight, the heavier first.
        clues: [Clue; 2],
        /// The sum of the evidence for a wireless loss, in decibels.
        decibels: f64,
        /// What the sum must exceed, in decibels.
        above: f64,
        /// The probability of a wireless loss, 0 to 1, if both causes are as likely beforehand.
        probability: f64,
        /// Whether it exceeds that, but too large a share of the last packets was called wireless.
        over_ceiling: bool,
    },
    /// The algorithm was in a state that decides (Spike).
    State {
        /// The scheme that decided.
        scheme: &'static str,
        /// The state: "in spike", "not in spike".
        state: &'static str,
        /// The ROTT of the packet after the gap, above the smallest so far.
        measured: Span,
        /// How the state would change: "exits below", "enters above".
        change: &'static str,
        /// The ROTT at which it would, above the smallest so far.
        threshold: Span,
    },
}

/// A reading that counted as evidence. `Display` writes it as a noun phrase: `delay at 12 % of its range`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clue {
    /// What was read: "delay at".
    pub what: &'static str,
    /// Its value.
    pub reading: f64,
    /// The unit, with a space in front: " % of its range".
    pub unit: &'static str,
}

impl fmt::Display for Clue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = if self.reading < 9.95 { 1 } else { 0 };
        write!(f, "{} {:.decimals$}{}", self.what, self.reading, self.unit)
    }
}

/// An input that was missing when an algorithm was asked. `Display` writes it as a noun phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// At a receiver: the sender's timestamp in the packet after the gap.
    Timestamp,
    /// At a sender: the round-trip time of the acknowledgement that shows the gap.
    RoundTripTime,
    /// At a receiver: an arrival before the gap.
    EarlierArrival,
    /// At a sender: an acknowledgement before the one that shows the gap.
    EarlierAck,
    /// At a sender: the gap that a declared loss lies in. No acknowledgement has shown it, or it is too long ago.
    Gap,
    /// Something else, as a noun phrase: "a congestion window".
    Other(&'static str),
}

impl Input {
    /// What a receiver's input is called at a sender.
    pub(crate) fn at_sender(self) -> Self {
        match self {
            Input::Timestamp => Input::RoundTripTime,
            Input::EarlierArrival => Input::EarlierAck,
            other => other,
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Input::Timestamp => "a sender's timestamp in the packet after the gap",
            Input::RoundTripTime => "a round-trip time with the acknowledgement that shows the gap",
            Input::EarlierArrival => "an arrival before the gap",
            Input::EarlierAck => "an acknowledgement before the one that shows the gap",
            Input::Gap => "an acknowledgement that shows the gap",
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
    /// One sentence: `mBiaz: inter-arrival time 81.280 ms lies in [81.280 ms, 91.440 ms) for 1 lost packet: wireless`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.verdict)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reason::Unconditional => f.write_str("whatever was observed"),
            Reason::Told => f.write_str("the truth was handed in"),
            Reason::Labelled => f.write_str("the receiver's label says so"),
            Reason::Unstated { scheme } => write!(f, "{scheme} does not say why"),
            Reason::Signalled { signal } => f.write_str(match signal {
                Signal::Gap => "later packets were acknowledged",
                Signal::Timeout => "the retransmission timer expired",
                Signal::EcnMark => "a queue marked a packet",
                Signal::PersistentCongestion => "congestion is persistent",
            }),
            Reason::Missing { input } => write!(f, "{input} is missing"),
            Reason::Compared { scheme, quantity, measured, at_least, below, lost } => {
                write!(f, "{scheme}: {quantity} {measured} ")?;
                match (at_least, below) {
                    (Some(from), Some(to)) if measured < from => write!(f, "lies below [{from}, {to})")?,
                    (Some(from), Some(to)) if measured >= to => write!(f, "lies above [{from}, {to})")?,
                    (Some(from), Some(to)) => write!(f, "lies in [{from}, {to})")?,
                    (Some(from), None) if measured < from => write!(f, "is below {from}")?,
                    (Some(from), None) => write!(f, "is at least {from}")?,
                    (None, Some(to)) if measured < to => write!(f, "is below {to}")?,
                    (None, Some(to)) => write!(f, "is not below {to}")?,
                    (None, None) => f.write_str("has no limit")?,
                }
                write!(f, " for {lost} lost packet{}", if lost == 1 { "" } else { "s" })
            }
            Reason::Counted { scheme, marked, of, most } => {
                write!(f, "{scheme}: {marked} of the last {of} round-trip times were outliers, ")?;
                write!(f, "{} {most}", if marked > most { "more than" } else { "no more than" })
            }
            Reason::Queued { scheme, pkts, wireless_up_to, congestion_from } => {
                write!(f, "{scheme}: {pkts:.2} packets are queued, ")?;
                if pkts >= congestion_from {
                    write!(f, "not below {congestion_from}")
                } else if pkts <= wireless_up_to {
                    write!(f, "not above {wireless_up_to}")
                } else {
                    write!(f, "between {wireless_up_to} and {congestion_from}")
                }
            }
            Reason::Lost { scheme, pkts, since, congestion_from } => {
                write!(f, "{scheme}: {pkts} packet{} lost {since}, ", if pkts == 1 { "" } else { "s" })?;
                let side = if pkts >= congestion_from { "not below" } else { "below" };
                write!(f, "{side} {congestion_from}")
            }
            Reason::LossRate { scheme, rate, wireless_up_to } => {
                let side = if rate > wireless_up_to { "above" } else { "not above" };
                write!(f, "{scheme}: {:.2} % of the packets are lost, {side} {} %", rate * 1e2, wireless_up_to * 1e2)
            }
            Reason::LostAgain { scheme, before, rtt } => {
                write!(f, "{scheme}: another packet was lost {before} before, within a round-trip time of {rtt}")
            }
            Reason::Gradients { scheme, queue, of_min, of_max } => {
                write!(f, "{scheme}: queue {queue} (minimum round-trip time grew by {of_min}, maximum by {of_max})")
            }
            Reason::Weighed { scheme, clues: [first, second], decibels, above, probability, over_ceiling } => {
                let percent = probability * 1e2;
                write!(f, "{scheme}: {first}, {second}; in all {decibels:+.1} dB ({percent:.0} % wireless), ")?;
                match over_ceiling {
                    true => f.write_str("but too many packets were called wireless"),
                    false if decibels > above => write!(f, "above {above} dB"),
                    false => write!(f, "not above {above} dB"),
                }
            }
            Reason::State { scheme, state, measured, change, threshold } => {
                write!(f, "{scheme}: {state} (ROTT {measured} above minimum; {change} {threshold})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    fn compared(quantity: &'static str, measured_us: i64, at_least_us: Option<i64>, lost: u32) -> Reason {
        Reason::Compared {
            scheme: "mBiaz",
            quantity,
            measured: Span::from_micros(measured_us),
            at_least: at_least_us.map(Span::from_micros),
            below: Some(Span::from_micros(91_440)),
            lost,
        }
    }

    #[test]
    fn a_judgement_reads_as_one_sentence_with_its_inputs_and_limits() {
        let sentence = |verdict, reason| Judgement { verdict, reason }.to_string();
        let gap = "inter-arrival time";
        assert_eq!(
            sentence(Verdict::Wireless, compared(gap, 81_280, Some(81_280), 1)),
            "mBiaz: inter-arrival time 81.280 ms lies in [81.280 ms, 91.440 ms) for 1 lost packet: wireless"
        );
        assert_eq!(
            sentence(Verdict::Congestion, compared(gap, 91_440, Some(81_280), 2)),
            "mBiaz: inter-arrival time 91.440 ms lies above [81.280 ms, 91.440 ms) for 2 lost packets: congestion"
        );
        assert_eq!(
            sentence(Verdict::Congestion, compared("relative ROTT", 91_440, None, 1)),
            "mBiaz: relative ROTT 91.440 ms is not below 91.440 ms for 1 lost packet: congestion"
        );
        let (scheme, state, change) = ("Spike", "in spike", "exits below");
        let (measured, threshold) = (Span::from_millis(30), Span::from_millis(12));
        assert_eq!(
            sentence(Verdict::Congestion, Reason::State { scheme, state, measured, change, threshold }),
            "Spike: in spike (ROTT 30.000 ms above minimum; exits below 12.000 ms): congestion"
        );
        let counted = |marked| Reason::Counted { scheme: "Flip Flop", marked, of: 8, most: 4 };
        assert_eq!(
            sentence(Verdict::Wireless, counted(4)),
            "Flip Flop: 4 of the last 8 round-trip times were outliers, no more than 4: wireless"
        );
        assert_eq!(
            sentence(Verdict::Congestion, counted(5)),
            "Flip Flop: 5 of the last 8 round-trip times were outliers, more than 4: congestion"
        );
        let queued = |pkts| Reason::Queued { scheme: "Vegas buffer", pkts, wireless_up_to: 1.0, congestion_from: 3.0 };
        assert_eq!(
            sentence(Verdict::Wireless, queued(1.0)),
            "Vegas buffer: 1.00 packets are queued, not above 1: wireless"
        );
        assert_eq!(
            sentence(Verdict::Undecided, queued(2.5)),
            "Vegas buffer: 2.50 packets are queued, between 1 and 3: undecided"
        );
        assert_eq!(
            sentence(Verdict::Congestion, queued(3.0)),
            "Vegas buffer: 3.00 packets are queued, not below 3: congestion"
        );
        let lost = |pkts| Reason::Lost { scheme: "n-th loss", pkts, since: "in the episode", congestion_from: 2 };
        assert_eq!(sentence(Verdict::Wireless, lost(1)), "n-th loss: 1 packet lost in the episode, below 2: wireless");
        assert_eq!(
            sentence(Verdict::Congestion, lost(2)),
            "n-th loss: 2 packets lost in the episode, not below 2: congestion"
        );
        let rate = |rate| Reason::LossRate { scheme: "drop rate", rate, wireless_up_to: 0.15 };
        assert_eq!(
            sentence(Verdict::Wireless, rate(0.0625)),
            "drop rate: 6.25 % of the packets are lost, not above 15 %: wireless"
        );
        assert_eq!(
            sentence(Verdict::Congestion, rate(0.2)),
            "drop rate: 20.00 % of the packets are lost, above 15 %: congestion"
        );
        let (before, rtt) = (Span::from_millis(12), Span::from_millis(40));
        assert_eq!(
            sentence(Verdict::Congestion, Reason::LostAgain { scheme: "fqRTT", before, rtt }),
            "fqRTT: another packet was lost 12.000 ms before, within a round-trip time of 40.000 ms: congestion"
        );
        let (of_min, of_max) = (Span::from_millis(2), Span::from_millis(-1));
        assert_eq!(
            sentence(Verdict::Congestion, Reason::Gradients { scheme: "CDG", queue: "full", of_min, of_max }),
            "CDG: queue full (minimum round-trip time grew by 2.000 ms, maximum by -1.000 ms): congestion"
        );
        assert_eq!(
            sentence(Verdict::Undecided, Reason::Missing { input: Input::Other("a smallest inter-arrival time") }),
            "a smallest inter-arrival time is missing: undecided"
        );
        assert_eq!(sentence(Verdict::Wireless, Reason::Unstated { scheme: "mine" }), "mine does not say why: wireless");
    }
}
