//! For quinn.

use quinn_proto as proto;

super::recording! {
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.controller.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        // A batch without bytes is a mark, which loses nothing.
        if lost_bytes > 0 {
            self.ledger.open_batch(self.clock.time(sent), lost_bytes);
        }
        self.controller.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        if lost_bytes > 0 {
            self.ledger.close_batch(self.controller.window());
        }
    }
}
