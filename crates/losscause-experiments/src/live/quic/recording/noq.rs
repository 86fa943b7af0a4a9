//! For noq.

use std::time::Duration;

use noq_proto as proto;

super::recording! {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.controller.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.controller.on_cwnd_limited();
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, now: Instant) {
        self.controller.on_packet_lost(lost_bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.controller.on_spurious_congestion_event();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.controller.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.controller.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        if !is_ecn {
            self.ledger.open_batch(self.clock.time(sent), lost_bytes);
        }
        self.controller.on_congestion_event(
            now,
            sent,
            is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest_lost,
        );
        if !is_ecn {
            self.ledger.close_batch(self.controller.window());
        }
    }
}

impl std::fmt::Debug for RecordingController {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.controller.fmt(f)
    }
}
