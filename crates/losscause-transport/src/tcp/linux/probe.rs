//! Tail loss probes (RFC 8985, section 7): a packet that makes the receiver report what is missing
//! at the end.
//!
//! ```text
//! PTO = 2 SRTT, plus min_rto if one packet is outstanding, else plus 2 ms; at most until the RTO expires
//! a probe is new data if there is some, else the last packet again; one probe until it is acknowledged
//! ```
//!
//! A probe that repeats a packet may itself repair the only loss. An ACK beyond it, without a
//! D-SACK before, means so, and the window is cut for that loss (section 7.4.2).
//!
//! Linux (net/ipv4/tcp_output.c, `tcp_schedule_loss_probe`) adds min_rto for the delayed ACK of a
//! single packet, where RFC 8985 adds the largest delay.
//!
//! Deviations: none.

use losscause::Span;

use super::clock::LEAST_TIMEOUT;
use super::rtt::Rtt;

/// The probe under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    outstanding: Option<Outstanding>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// One above the highest packet sent when the probe was.
    end: u64,
    /// Whether it repeats a packet.
    repeats: bool,
}

/// What an ACK says about the probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeAck {
    /// The cumulative ACK.
    pub(super) next: u64,
    /// The packet that arrived twice, by its D-SACK.
    pub(super) duplicate: Option<u64>,
    /// Whether the ACK brings nothing: no data, no report.
    pub(super) plain_duplicate: bool,
}

impl Probe {
    /// When the probe is due, `wait` after now; `until_rto` is when the timeout would be.
    pub(super) fn wait(rtt: &Rtt, min_rto: Span, outstanding: u64, until_rto: Span) -> Span {
        let wait = match rtt.srtt() {
            Some(srtt) if outstanding == 1 => srtt * 2 + min_rto,
            Some(srtt) => srtt * 2 + LEAST_TIMEOUT,
            None => Span::from_secs(1),
        };
        if until_rto > Span::ZERO { wait.min(until_rto) } else { wait }
    }

    pub(super) fn is_outstanding(&self) -> bool {
        self.outstanding.is_some()
    }

    /// Whether the probe under way may have been packet `seq`.
    pub(super) fn is_of(&self, seq: u64) -> bool {
        self.outstanding.is_some_and(|probe| probe.end == seq + 1)
    }

    /// Whether the probe under way repeats a packet.
    pub(super) fn repeats(&self) -> bool {
        self.outstanding.is_some_and(|probe| probe.repeats)
    }

    /// The probe was sent, and everything below `end` has been.
    pub(super) fn on_send(&mut self, end: u64, repeats: bool) {
        self.outstanding = Some(Outstanding { end, repeats });
    }

    /// The window is being cut, or the timer expired.
    pub(super) fn clear(&mut self) {
        self.outstanding = None;
    }

    /// Handles an ACK. Returns the packet that the probe repaired: its loss must be answered.
    pub(super) fn on_ack(&mut self, ack: &ProbeAck) -> Option<u64> {
        let probe = self.outstanding.filter(|probe| ack.next >= probe.end)?;
        let both_arrived =
            ack.duplicate == Some(probe.end - 1) || ack.next == probe.end && ack.plain_duplicate;
        if !probe.repeats || both_arrived {
            self.clear();
            return None;
        }
        (ack.next > probe.end).then(|| probe.end - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> Span = Span::from_millis;

    fn rtt() -> Rtt {
        let mut rtt = Rtt::new(MS(200), Span::from_secs(120), Span::from_secs(1));
        rtt.on_sample(MS(50), 1, 1);
        rtt
    }

    #[test]
    fn a_probe_comes_after_two_round_trips_and_before_the_timeout() {
        let wait = |outstanding, until_rto| Probe::wait(&rtt(), MS(200), outstanding, until_rto);
        assert_eq!(wait(5, MS(250)), MS(102));
        assert_eq!(wait(1, MS(400)), MS(300));
        assert_eq!(wait(1, MS(250)), MS(250));
    }

    fn ack(next: u64) -> ProbeAck {
        ProbeAck { next, duplicate: None, plain_duplicate: false }
    }

    fn probing(repeats: bool) -> Probe {
        let mut probe = Probe::default();
        probe.on_send(20, repeats);
        probe
    }

    #[test]
    fn new_data_probes_without_a_verdict() {
        let mut probe = probing(false);
        assert_eq!(probe.on_ack(&ack(21)), None);
        assert!(!probe.is_outstanding());
    }

    #[test]
    fn an_ack_beyond_a_repeated_packet_means_the_probe_repaired_it() {
        let mut probe = probing(true);
        assert_eq!(probe.on_ack(&ack(19)), None, "not yet acknowledged");
        assert_eq!(probe.on_ack(&ack(20)), None, "by the original or by the probe");
        assert_eq!(probe.on_ack(&ack(21)), Some(19));
    }

    #[test]
    fn a_duplicate_means_that_both_arrived() {
        let duplicate = ProbeAck { duplicate: Some(19), ..ack(20) };
        let plain = ProbeAck { plain_duplicate: true, ..ack(20) };
        for second in [duplicate, plain] {
            let mut probe = probing(true);
            assert_eq!(probe.on_ack(&ack(20)), None);
            assert_eq!(probe.on_ack(&second), None);
            assert!(!probe.is_outstanding());
        }
    }
}
