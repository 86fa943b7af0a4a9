//! The kernel's own congestion controls, which the programs begin from, and what one would have had.

use std::fmt;

use losscause::Span;

/// A congestion control of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Reno (RFC 5681).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
}

/// What a connection has lost and delivered, for an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transferred {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets lost, whatever the cause.
    pub lost: u64,
    /// Bytes of a full packet.
    pub mss_bytes: u32,
    /// Its round-trip time.
    pub rtt: Span,
}

impl Base {
    /// An estimate of the rate, bits per second, that it would have on the same path if each of the
    /// losses reduced its window: its response function times packet size over round-trip time.
    /// None with fewer than [`Base::LEAST_LOST`] losses, or without a round-trip time.
    ///
    /// The link may have less than that, and the round-trip time is one that the other control has
    /// made.
    ///
    /// ```
    /// use losscause::Span;
    /// use losscause_linux::kernel::{Base, Transferred};
    ///
    /// // 150 of 10,000 packets were lost: sqrt(1.5 / 0.015) = 10 packets of 1250 bytes in 100 ms.
    /// let path = Transferred { delivered: 9_850, lost: 150, mss_bytes: 1_250, rtt: Span::from_millis(100) };
    /// assert_eq!(Base::Reno.estimated_bps(path).map(f64::round), Some(1e6));
    /// ```
    pub fn estimated_bps(self, path: Transferred) -> Option<f64> {
        let Transferred { delivered, lost, mss_bytes, rtt } = path;
        if lost < Self::LEAST_LOST || rtt <= Span::ZERO {
            return None;
        }
        let loss_rate = lost as f64 / (delivered + lost) as f64;
        let window_bits = self.window_pkts(loss_rate, rtt) * f64::from(mss_bytes) * 8.0;
        Some(window_bits / rtt.as_secs_f64())
    }

    /// With fewer losses there is no estimate.
    pub const LEAST_LOST: u64 = 8;

    /// The mean window, packets, where a share `loss_rate` of the packets, more than 0, is lost at
    /// random.
    fn window_pkts(self, loss_rate: f64, rtt: Span) -> f64 {
        // RFC 9438, section 5.1, gives both: 1.2/p^0.5 for Reno, from which CUBIC does not fall
        // (section 4.3).
        let reno = (1.5 / loss_rate).sqrt();
        match self {
            Base::Reno => reno,
            Base::Cubic => reno.max(1.054 * (rtt.as_secs_f64() / loss_rate).powf(0.75)),
        }
    }
}

impl fmt::Display for Base {
    /// The kernel's name of it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Base::Reno => "reno",
            Base::Cubic => "cubic",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(lost: u64, rtt_ms: i64) -> Transferred {
        let rtt = Span::from_millis(rtt_ms);
        Transferred { delivered: 10_000 - lost, lost, mss_bytes: 1_250, rtt }
    }

    #[test]
    fn cubic_is_reno_on_short_paths_and_has_more_on_long_ones() {
        // p = 0.015: sqrt(100) = 10 packets of 10,000 bits. 1.054 (0.01/0.015)^0.75 = 0.78.
        assert_eq!(
            Base::Cubic.estimated_bps(path(150, 10)),
            Base::Reno.estimated_bps(path(150, 10))
        );
        // p = 0.001, 1 s: 1.054 * 1000^0.75 = 1.054 * 177.83 = 187.43 packets, Reno's are 38.73.
        let bps = |base: Base| base.estimated_bps(path(10, 1_000)).map(f64::round);
        assert_eq!((bps(Base::Cubic), bps(Base::Reno)), (Some(1_874_306.0), Some(387_298.0)));
    }

    #[test]
    fn few_losses_cannot_tell() {
        assert_eq!(Base::Reno.estimated_bps(path(7, 40)), None);
        assert!(Base::Reno.estimated_bps(path(8, 40)).is_some());
        assert_eq!(Base::Reno.estimated_bps(path(8, 0)), None);
    }
}
