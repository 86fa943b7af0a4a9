//! How the congestion window responds to acknowledgements and losses. One file per response.

mod aimd;
pub(super) mod cubic;
mod delivered;
mod new_jersey;
mod vegas;
mod veno;
mod westwood;
mod westwood_vt;

use losscause::{Observation, Span, Time};

use super::config::Config;
use super::loss_event::{Answer, LossEvent};
use super::schemes::ResponseScheme;
use super::stream::Stream;
use super::window::Window;
use aimd::Aimd;
use cubic::Cubic;
use new_jersey::NewJersey;
use vegas::Vegas;
use veno::Veno;
use westwood::Westwood;
use westwood_vt::WestwoodVt;

/// The response of a connection.
#[derive(Clone, Debug)]
pub(super) enum Response {
    Aimd(Aimd),
    Vegas(Vegas),
    Veno(Veno),
    Cubic(Cubic),
    Westwood(Westwood),
    WestwoodVt(WestwoodVt),
    NewJersey(NewJersey),
}

/// An ACK of new data, as a response sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked<'a> {
    /// The sample taken from it.
    pub(super) sample: &'a Observation,
    /// Where the stream stands now.
    pub(super) stream: &'a Stream,
    /// The smoothed round-trip time (RFC 6298); `None` before the first measurement.
    pub(super) srtt: Option<Span>,
    /// Whether the window may grow.
    pub(super) growth: Growth,
}

/// Whether an ACK of new data may open the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// It may grow.
    Due,
    /// No growth: a loss is under repair, or the ACK echoes a mark or acknowledges the SYN.
    Repairing,
    /// No growth: the receiver's window or the end of the data limits the sender, so cwnd was not used (RFC 9438,
    /// section 5.8).
    Unused,
}

impl Response {
    pub(super) fn new(config: &Config) -> Self {
        match config.response {
            ResponseScheme::Aimd => Self::Aimd(Aimd::new(config)),
            ResponseScheme::Vegas(parameters) => Self::Vegas(Vegas::new(config, parameters)),
            ResponseScheme::Veno => Self::Veno(Veno::new(config)),
            ResponseScheme::Cubic => Self::Cubic(Cubic::new()),
            ResponseScheme::Westwood => Self::Westwood(Westwood::new(config)),
            ResponseScheme::WestwoodVt(parameters) => Self::WestwoodVt(WestwoodVt::new(config, parameters)),
            ResponseScheme::NewJersey => Self::NewJersey(NewJersey::default()),
        }
    }

    /// The SYN was acknowledged, and data may flow.
    pub(super) fn on_open(&mut self, window: &mut Window, initial_pkts: u32) {
        match self {
            Self::Vegas(vegas) => vegas.on_open(window, initial_pkts),
            _ => window.restart(initial_pkts),
        }
    }

    /// New data was acknowledged.
    #[inline]
    pub(super) fn on_ack(&mut self, window: &mut Window, acked: &Acked<'_>) {
        match self {
            Self::Aimd(aimd) if acked.growth == Growth::Due => aimd.grow(window),
            Self::Aimd(_) => {}
            _ => self.take_in(window, acked),
        }
    }

    #[inline(never)]
    fn take_in(&mut self, window: &mut Window, acked: &Acked<'_>) {
        let Acked { sample, stream, .. } = acked;
        let may_grow = acked.growth == Growth::Due;
        match self {
            Self::Aimd(_) => {}
            Self::Vegas(vegas) => vegas.on_ack(window, sample, stream, may_grow),
            Self::Veno(veno) => veno.on_ack(window, sample, may_grow),
            Self::Cubic(cubic) => cubic.on_ack(window, acked),
            Self::Westwood(westwood) => westwood.on_ack(window, sample, may_grow),
            Self::WestwoodVt(westwood) => westwood.on_ack(window, sample, may_grow),
            Self::NewJersey(jersey) => jersey.on_ack(window, sample, may_grow),
        }
    }

    /// A duplicate ACK arrived.
    #[inline]
    pub(super) fn on_dup_ack(&mut self, now: Time) {
        match self {
            Self::Westwood(westwood) => westwood.on_dup_ack(now),
            Self::WestwoodVt(westwood) => westwood.on_dup_ack(now),
            Self::NewJersey(jersey) => jersey.on_dup_ack(now),
            _ => {}
        }
    }

    /// A queue marked a packet (ECN); nothing was lost.
    pub(super) fn on_mark(&mut self, window: &mut Window, loss: &LossEvent) {
        match self {
            Self::NewJersey(jersey) => jersey.on_warning(window),
            _ => {
                self.on_fast_retransmit(window, loss);
            }
        }
    }

    /// A loss was declared because of duplicate ACKs.
    pub(super) fn on_fast_retransmit(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        match self {
            Self::Aimd(aimd) => aimd.on_fast_retransmit(window, loss),
            Self::Vegas(vegas) => vegas.on_fast_retransmit(window, loss),
            Self::Veno(veno) => veno.on_fast_retransmit(window, loss),
            Self::Cubic(cubic) => cubic.on_fast_retransmit(window, loss),
            Self::Westwood(westwood) => westwood.on_fast_retransmit(window, loss),
            Self::WestwoodVt(westwood) => westwood.on_fast_retransmit(window, loss),
            Self::NewJersey(jersey) => jersey.on_fast_retransmit(window, loss),
        }
    }

    /// The retransmission timer expired with `flight_pkts` packets in flight; `again` if for the same packet as before.
    pub(super) fn on_timeout(&mut self, window: &mut Window, now: Time, flight_pkts: u64, again: bool) {
        match self {
            Self::Aimd(aimd) => aimd.on_timeout(window, flight_pkts, again),
            Self::Vegas(vegas) => vegas.on_timeout(window, now, flight_pkts),
            Self::Veno(veno) => veno.on_timeout(window, flight_pkts, again),
            Self::Cubic(cubic) => cubic.on_timeout(window, flight_pkts, again),
            Self::Westwood(westwood) => westwood.on_timeout(window, now),
            Self::WestwoodVt(westwood) => westwood.on_timeout(window, now),
            Self::NewJersey(jersey) => jersey.on_timeout(window),
        }
    }
}
