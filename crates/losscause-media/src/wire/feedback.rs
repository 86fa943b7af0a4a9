//! The receiver's report (RFC 5348, section 3.2.2), and the losses of each kind.
//!
//! The body of the control packet [`Feedback`](super::control::Control::Feedback), 56 bytes:
//!
//! | field | bytes | unit | RFC 5348 |
//! |---|---|---|---|
//! | highest | 8 | the highest sequence number received | |
//! | echo | 8 | µs: that packet's send timestamp, as it came | t_recvdata |
//! | hold | 4 | µs from that packet's arrival to this report | t_delay |
//! | receive rate | 4 | bytes per second | X_recv |
//! | loss event rate | 4 | 1 / (2^32 - 1) | p |
//! | reserved | 4 | 0 | |
//! | received | 8 | packets so far, each counted once | |
//! | lost to congestion | 8 | packets so far, those included about which the algorithm could not tell | |
//! | lost to wireless | 8 | packets so far | |
//!
//! The totals let an encoder choose between source and channel coding, and a lost report costs
//! nothing. What the report says beyond the RFC lets the sender check it (`session/vetting.rs`).
//!
//! Deviations: none in meaning. Rates saturate at the largest value, a hold of more than 71 minutes
//! too.

use losscause::{Span, Time};

use super::Fields;

/// A report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Feedback {
    /// The highest sequence number received.
    pub highest: u64,
    /// The highest packet's send timestamp, µs.
    pub echo_us: u64,
    /// From its arrival to this report, µs.
    pub hold_us: u32,
    /// X_recv, bytes per second.
    pub receive_rate: u32,
    /// p in units of 1 / (2^32 - 1).
    pub loss_event_rate: u32,
    /// Packets received so far.
    pub received: u64,
    /// Packets lost so far to congestion.
    pub lost_congestion: u64,
    /// Packets lost so far to the air.
    pub lost_wireless: u64,
}

impl Feedback {
    /// Sets X_recv from bytes per second, rounded.
    pub fn set_receive_rate(&mut self, bytes_per_second: f64) {
        self.receive_rate = bytes_per_second.round() as u32;
    }

    /// Sets p from a fraction, 0 to 1. A p that is not zero stays so.
    pub fn set_loss_event_rate(&mut self, p: f64) {
        let units = (p * f64::from(u32::MAX)).round() as u32;
        self.loss_event_rate = if p > 0.0 { units.max(1) } else { units };
    }

    /// p, 0 to 1.
    pub fn loss_event_rate(&self) -> f64 {
        f64::from(self.loss_event_rate) / f64::from(u32::MAX)
    }

    /// How long the last packet was held.
    pub fn hold(&self) -> Span {
        Span::from_micros(i64::from(self.hold_us))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.highest.to_be_bytes());
        out.extend(self.echo_us.to_be_bytes());
        out.extend(self.hold_us.to_be_bytes());
        out.extend(self.receive_rate.to_be_bytes());
        out.extend(self.loss_event_rate.to_be_bytes());
        out.extend([0; 4]);
        out.extend(self.received.to_be_bytes());
        out.extend(self.lost_congestion.to_be_bytes());
        out.extend(self.lost_wireless.to_be_bytes());
    }

    pub(super) fn parse(body: &mut Fields<'_>) -> Option<Self> {
        let highest = body.u64()?;
        let echo_us = body.u64()?;
        let hold_us = body.u32()?;
        let receive_rate = body.u32()?;
        let loss_event_rate = body.u32()?;
        let _reserved = body.u32()?;
        let received = body.u64()?;
        let lost_congestion = body.u64()?;
        let lost_wireless = body.u64()?;
        Some(Self {
            highest,
            echo_us,
            hold_us,
            receive_rate,
            loss_event_rate,
            received,
            lost_congestion,
            lost_wireless,
        })
    }
}

/// A time as µs since its zero; before it, 0.
pub(crate) fn micros(at: Time) -> u64 {
    (at.as_nanos() / 1000).max(0) as u64
}

/// A span as µs, from 0 to 71 minutes.
pub(crate) fn short_micros(span: Span) -> u32 {
    u32::try_from((span.as_nanos() / 1000).max(0)).unwrap_or(u32::MAX)
}

/// The time that a peer gives as µs, at most the latest there is.
pub(crate) fn time(micros: u64) -> Time {
    Time::from_nanos(i64::try_from(micros).unwrap_or(i64::MAX).saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_saturate_and_a_tiny_loss_event_rate_does_not_vanish() {
        let mut feedback = Feedback::default();
        feedback.set_receive_rate(1e30);
        assert_eq!(feedback.receive_rate, u32::MAX);
        feedback.set_receive_rate(f64::NAN);
        assert_eq!(feedback.receive_rate, 0);
        feedback.set_loss_event_rate(1e-15);
        assert_eq!(feedback.loss_event_rate, 1);
        feedback.set_loss_event_rate(0.0);
        assert_eq!(feedback.loss_event_rate(), 0.0);
        feedback.set_loss_event_rate(1.0);
        assert_eq!(feedback.loss_event_rate(), 1.0);
        // 1/80 is 53687091.1875 units.
        feedback.set_loss_event_rate(0.0125);
        assert_eq!(feedback.loss_event_rate, 53_687_091);
    }

    #[test]
    fn times_keep_their_microseconds_and_foreign_ones_saturate() {
        let at = Time::from_nanos(1_234_567_890);
        assert_eq!(micros(at), 1_234_567);
        assert_eq!(time(1_234_567), Time::from_nanos(1_234_567_000));
        assert_eq!(micros(Time::from_nanos(-5)), 0);
        assert_eq!(time(u64::MAX), Time::MAX);
        assert_eq!(short_micros(Span::from_secs(10_000)), u32::MAX);
        assert_eq!(short_micros(Span::from_secs(-1)), 0);
    }
}
