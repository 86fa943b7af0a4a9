//! The sender: one of the RFCs and of ns-2, or one of Linux.

use losscause::{Algorithm, Observer, Time};

use super::classic::Classic;
use super::config::{Config, ConfigError};
use super::linux::Linux;
use super::recovery::RecoveryScheme;
use super::segment::{Ack, Segment};
use super::stats::Stats;

/// The sender of a connection. It has [`Config::limit_pkts`] packets of data to send, and what
/// [`Sender::hand_over`] adds. `L` judges why packets were lost; with `()` every loss is congestion.
#[derive(Clone, Debug)]
pub struct Sender<L = ()> {
    machine: Machine<L>,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A pointer would cost time per packet.
enum Machine<L> {
    Classic(Classic<L>),
    Linux(Box<Linux<L>>),
}

/// Calls the same method of either sender.
macro_rules! either {
    ($machine:expr, $sender:ident => $call:expr) => {
        match $machine {
            Machine::Classic($sender) => $call,
            Machine::Linux($sender) => $call,
        }
    };
}

impl Sender {
    /// A closed connection that treats every loss as congestion.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Self::with_lda(config, ())
    }
}

impl<L: Algorithm> Sender<L> {
    /// A closed connection that asks `lda` about each loss that duplicate ACKs reveal.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn with_lda(config: &Config, lda: L) -> Result<Self, ConfigError> {
        config.validate()?;
        let machine = match config.recovery {
            RecoveryScheme::RackTlp => Machine::Linux(Box::new(Linux::new(config, lda))),
            _ => Machine::Classic(Classic::new(config, lda)),
        };
        Ok(Self { machine })
    }

    /// Opens the connection: from now on [`Sender::poll_transmit`] has segments.
    pub fn start(&mut self, now: Time) {
        match &mut self.machine {
            Machine::Classic(sender) => sender.start(now),
            Machine::Linux(sender) => sender.start(),
        }
    }

    /// The application hands over `pkts` more packets of data, beyond [`Config::limit_pkts`]. After
    /// an idle time longer than the retransmission timeout, cwnd restarts: RFC 5681, section 4.1; in
    /// Linux's machine net/ipv4/tcp_output.c, `tcp_cwnd_restart`. Without a limit it has no effect.
    pub fn hand_over(&mut self, now: Time, pkts: u64) {
        either!(&mut self.machine, sender => sender.hand_over(now, pkts));
    }

    /// An ACK arrived. An ACK of something never sent, or older than the newest, changes nothing.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, observer: &mut impl Observer) {
        either!(&mut self.machine, sender => sender.on_ack(now, ack, observer));
    }

    /// Handles a deadline of [`Sender::poll_timeout`]; has no effect before it.
    #[inline]
    pub fn on_timeout(&mut self, now: Time, observer: &mut impl Observer) {
        either!(&mut self.machine, sender => sender.on_timeout(now, observer));
    }

    /// When to call [`Sender::on_timeout`]; `None` means never.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        either!(&self.machine, sender => sender.poll_timeout())
    }

    /// The next segment to send at `now`. Call it until it returns `None` after each of the other
    /// calls.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        either!(&mut self.machine, sender => sender.poll_transmit(now))
    }

    /// How many packets may be unacknowledged: cwnd plus what recovery adds, at most the receiver's
    /// window.
    pub fn window_pkts(&self) -> u32 {
        either!(&self.machine, sender => sender.window_pkts())
    }

    /// The congestion window, packets, without fast recovery's inflation (as ns-2 traces it). At
    /// least 1, except with [`super::VegasRules::Ns2`].
    #[inline]
    pub fn cwnd(&self) -> f64 {
        either!(&self.machine, sender => sender.cwnd())
    }

    /// The slow start threshold, packets.
    pub fn ssthresh(&self) -> f64 {
        either!(&self.machine, sender => sender.ssthresh())
    }

    /// Packets known to have arrived, including the SYN: everything below this number is
    /// acknowledged.
    pub fn acknowledged(&self) -> u64 {
        either!(&self.machine, sender => sender.acknowledged())
    }

    /// Whether all data is acknowledged.
    pub fn is_finished(&self) -> bool {
        either!(&self.machine, sender => sender.is_finished())
    }

    /// Counts since the start.
    pub fn stats(&self) -> Stats {
        either!(&self.machine, sender => sender.stats())
    }
}
