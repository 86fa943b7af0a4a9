//! The two window algorithms of Linux that are simulated: Reno (RFC 5681; net/ipv4/tcp_cong.c) and CUBIC.

use losscause::{Span, Time};

use super::super::schemes::ResponseScheme;
use super::clock::Clock;
use super::cubic::Cubic;
use super::cwnd::Cwnd;

#[derive(Clone, Debug)]
pub(super) enum Congestion {
    Reno,
    Cubic(Cubic),
}

impl Congestion {
    /// CUBIC if `response` is, else Reno.
    pub(super) fn new(response: ResponseScheme, clock: Clock) -> Self {
        if response == ResponseScheme::Cubic { Self::Cubic(Cubic::new(clock)) } else { Self::Reno }
    }

    /// ssthresh after a loss with this cwnd.
    pub(super) fn on_loss(&mut self, cwnd_pkts: u32) -> u32 {
        match self {
            Self::Reno => (cwnd_pkts / 2).max(2),
            Self::Cubic(cubic) => cubic.on_loss(cwnd_pkts),
        }
    }

    /// The retransmission timer expired; [`Congestion::on_loss`] was called if the window was cut.
    pub(super) fn on_timeout(&mut self) {
        if let Self::Cubic(cubic) = self {
            cubic.on_timeout();
        }
    }

    /// An ACK measures `rtt` with everything below `una` acknowledged and below `next` sent.
    pub(super) fn on_rtt(&mut self, now: Time, rtt: Span, una: u64, next: u64, cwnd: &mut Cwnd) {
        if let Self::Cubic(cubic) = self {
            cubic.on_rtt(now, rtt, una, next, cwnd);
        }
    }

    /// The window grows for `delivered` packets, if it is used.
    pub(super) fn grow(&mut self, now: Time, cwnd: &mut Cwnd, delivered: u32) {
        if !cwnd.is_used() {
            return;
        }
        let left = if cwnd.in_slow_start() { cwnd.slow_start(delivered) } else { delivered };
        if left == 0 {
            return;
        }
        let per = match self {
            Self::Reno => cwnd.pkts,
            Self::Cubic(cubic) => cubic.per(now, cwnd.pkts, left),
        };
        cwnd.add(per, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(pkts: u32, ssthresh: u32) -> Cwnd {
        let mut cwnd = Cwnd::new(pkts, Some(ssthresh));
        cwnd.on_stop(true, pkts.into(), 0, pkts.into());
        cwnd
    }

    #[test]
    fn reno_halves_to_two_at_least() {
        assert_eq!([21, 3].map(|cwnd| Congestion::Reno.on_loss(cwnd)), [10, 2]);
    }

    #[test]
    fn renos_window_opens_by_one_for_every_window_delivered() {
        let mut cwnd = used(10, 5);
        (0..4).for_each(|_| Congestion::Reno.grow(Time::ZERO, &mut cwnd, 2));
        assert_eq!(cwnd.pkts, 10);
        Congestion::Reno.grow(Time::ZERO, &mut cwnd, 2);
        assert_eq!(cwnd.pkts, 11);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut cwnd = Cwnd::new(10, Some(5));
        Congestion::Reno.grow(Time::ZERO, &mut cwnd, 100);
        assert_eq!(cwnd.pkts, 10);
    }
}
