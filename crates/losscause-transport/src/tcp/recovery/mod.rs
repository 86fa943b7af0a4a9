//! Loss recovery: which packet is sent next, and when duplicate ACKs mean a loss. One file per
//! scheme.

mod fast_recovery;
mod new_reno;
mod reno;
mod sack;
mod sack1;
mod scoreboard;
mod sendings;
mod vegas;

use losscause::{Numbers, Span, Time};

use super::config::Config;
use super::loss_event::{Answer, Found, Lost};
use super::quirks::{FastRetransmit, LimitedTransmit, SackRules};
use super::segment::Ack;
use super::stream::Stream;
use super::window::Window;
use new_reno::NewReno;
use reno::Reno;
use sack::Sack;
use sack1::Sack1;
pub(super) use scoreboard::Scoreboard;
use vegas::Vegas;

/// Which packets are sent again, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScheme {
    /// RFC 5681: fast recovery ends with the first ACK of new data.
    Reno,
    /// Fast retransmit without fast recovery: every third duplicate ACK retransmits a packet, and
    /// cwnd is not inflated.
    FastRetransmit,
    /// RFC 6582: fast recovery ends when everything is repaired; it repairs one packet per round
    /// trip.
    NewReno,
    /// RFC 6675: fast recovery ends when everything is repaired, as fast as cwnd allows; the
    /// receiver sends SACK reports (RFC 2018).
    Sack,
    /// RFC 8985 with RFC 6937 and RFC 5682, as in Linux; sender and receiver follow Linux in
    /// everything else too. Requires [`Quirks::LINUX`](super::Quirks::LINUX) and a response of
    /// [`ResponseScheme::Aimd`](super::ResponseScheme::Aimd),
    /// [`ResponseScheme::Cubic`](super::ResponseScheme::Cubic) or
    /// [`ResponseScheme::Own`](super::ResponseScheme::Own).
    RackTlp,
    /// Brakmo and Peterson 1995: every packet has its own timeout, checked on duplicate ACKs.
    Vegas,
}

/// The recovery scheme of a connection.
#[derive(Clone, Debug)]
pub(super) enum Recovery {
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
    Vegas(Vegas),
}

/// What an ACK of new data means for recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// No recovery was under way.
    Open,
    /// One loss is repaired, another is known.
    Partial {
        /// Whether the retransmission timer restarts.
        restart_timer: bool,
        /// Whether the timer's back-off is cleared at its next start.
        clear_backoff: bool,
    },
    /// All losses are repaired.
    Recovered,
}

impl Recovery {
    pub(super) fn new(config: &Config) -> Self {
        match (config.recovery, config.quirks.sack) {
            (RecoveryScheme::Reno, _) => Self::Reno(Reno::new(config)),
            (RecoveryScheme::FastRetransmit, _) => Self::Reno(Reno::without_fast_recovery(config)),
            (RecoveryScheme::NewReno, _) => Self::NewReno(NewReno::new(config)),
            (RecoveryScheme::Sack, SackRules::Ns2) => Self::Sack1(Sack1::new(config)),
            // Linux's sender has its own and asks for none.
            (RecoveryScheme::Sack | RecoveryScheme::RackTlp, _) => Self::Sack(Sack::new(config)),
            (RecoveryScheme::Vegas, _) => Self::Vegas(Vegas::new(config)),
        }
    }

    /// Handles an ACK of new data. `stream` already includes the newly acknowledged packets.
    #[inline]
    pub(super) fn on_new_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        acked: u64,
        stream: &Stream,
        window: &mut Window,
    ) -> Progress {
        match self {
            Self::Reno(reno) => reno.on_new_ack(),
            Self::NewReno(reno) => reno.on_new_ack(acked, stream, window),
            Self::Sack(sack) => sack.on_new_ack(ack, stream),
            Self::Sack1(sack) => sack.on_new_ack(ack, stream),
            Self::Vegas(vegas) => vegas.on_new_ack(now, acked, stream, window),
        }
    }

    /// The receiver's SACK reports; `None` without SACK.
    pub(super) fn scoreboard(&self) -> Option<&Scoreboard> {
        match self {
            Self::Sack(sack) => Some(sack.scoreboard()),
            Self::Sack1(sack) => Some(sack.scoreboard()),
            Self::Reno(_) | Self::NewReno(_) | Self::Vegas(_) => None,
        }
    }

    /// The round-trip time measured by the last ACK of new data.
    #[inline]
    pub(super) fn rtt(&self, now: Time, ack: &Ack) -> Option<Span> {
        match self {
            Self::Vegas(vegas) => vegas.rtt(),
            // A forged ACK may echo a time in the future.
            _ => Some(now - ack.echo).filter(|&rtt| rtt > Span::ZERO),
        }
    }

    /// A duplicate ACK arrived.
    #[inline]
    pub(super) fn on_dup_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        stream: &Stream,
        window: &mut Window,
    ) -> Option<Found> {
        match self {
            Self::Reno(reno) => reno.on_dup_ack(now, ack, stream),
            Self::NewReno(reno) => reno.on_dup_ack(now, ack, stream),
            Self::Sack(sack) => sack.on_dup_ack(ack, stream),
            Self::Sack1(sack) => sack.on_dup_ack(ack, stream),
            Self::Vegas(vegas) => vegas.on_dup_ack(now, stream, window),
        }
    }

    /// The packets from `from` on that count as lost: with SACK those with `threshold` reported
    /// packets above them, in NewReno's recovery the first unacknowledged one. The others learn of
    /// one loss at a time.
    pub(super) fn lost(&self, from: u64, threshold: u32, stream: &Stream) -> Option<Lost> {
        let from = from.max(stream.una);
        if let Some(board) = self.scoreboard() {
            let below = board.lost_below(threshold);
            let first = board.next_hole(from).filter(|&first| first < below)?;
            let last = (first..below).rev().find(|&seq| !board.is_sacked(seq))?;
            let pkts = below - first - board.count(first, below);
            return Some(Lost {
                numbers: Numbers { first, last },
                pkts: u32::try_from(pkts).unwrap_or(u32::MAX),
            });
        }
        (matches!(self, Self::NewReno(_)) && from == stream.una)
            .then(|| Lost { numbers: Numbers::one(from), pkts: 1 })
    }

    /// Called after the response has answered the loss that was just detected.
    pub(super) fn on_answer(&mut self, answer: Answer, stream: &Stream, window: &mut Window) {
        match self {
            Self::Vegas(vegas) => vegas.on_answer(answer, stream, window),
            Self::NewReno(reno) => reno.on_answer(answer),
            Self::Reno(_) | Self::Sack(_) | Self::Sack1(_) => {}
        }
    }

    /// The retransmission timer expired. `stream` is not rewound yet, and the response has not
    /// answered.
    pub(super) fn on_timeout(&mut self, now: Time, stream: &Stream, window: &mut Window) {
        match self {
            Self::Reno(reno) => reno.on_timeout(now, stream),
            Self::NewReno(reno) => reno.on_timeout(now, stream, window),
            Self::Sack(sack) => sack.on_timeout(stream),
            Self::Sack1(sack) => sack.on_timeout(stream),
            Self::Vegas(vegas) => vegas.on_timeout(stream),
        }
    }

    /// The packet to send now, if any.
    #[inline]
    pub(super) fn poll_transmit(
        &mut self,
        now: Time,
        stream: &mut Stream,
        window: &Window,
    ) -> Option<u64> {
        match self {
            Self::Reno(reno) => reno.poll_transmit(stream, window),
            Self::NewReno(reno) => reno.poll_transmit(stream, window),
            Self::Sack(sack) => sack.poll_transmit(stream, window),
            Self::Sack1(sack) => sack.poll_transmit(stream, window),
            Self::Vegas(vegas) => vegas.poll_transmit(now, stream, window),
        }
    }

    /// How many packets may be unacknowledged; at most the receiver's window.
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        match self {
            Self::Reno(reno) => reno.window_pkts(stream, window),
            Self::NewReno(reno) => reno.window_pkts(stream, window),
            Self::Sack(sack) => sack.window_pkts(stream, window),
            Self::Sack1(sack) => sack.window_pkts(stream, window),
            Self::Vegas(_) => window.pkts(0),
        }
    }
}

impl FastRetransmit {
    /// Whether duplicate ACKs may cause packet `una` to be retransmitted, given that everything
    /// below `recover` had been sent when the last loss was detected.
    fn allows(self, una: u64, recover: u64) -> bool {
        match self {
            Self::Always => true,
            // ns-2.35, RenoTcpAgent::dupack_action.
            Self::OncePerWindow => una > recover || una == 1,
            // RFC 6582, section 3.2, step 1: `recover` starts at the initial sequence number.
            Self::AfterRecovery => una > recover || recover == 0,
        }
    }
}

impl LimitedTransmit {
    /// How many packets `dup_acks` duplicates add to the window. `unsent` is true if the next
    /// packet in sequence was never sent.
    #[inline]
    fn releases(self, dup_acks: u32, unsent: bool) -> u32 {
        match self {
            Self::Off => 0,
            Self::UnsentPacket if !unsent => 0,
            Self::UnsentPacket | Self::NextPacket => dup_acks,
        }
    }
}
