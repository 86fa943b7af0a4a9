//! How fast the path of a connection empties a queue that stands.

use std::collections::VecDeque;

use losscause::diagnosis::QueueSeen;
use losscause::{Span, Time};

/// How fast the path empties a queue that stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    since: Option<(Time, u32)>,
    rates_bps: VecDeque<f32>,
}

/// A queue stands if its least delay is as long, and as many times the jitter.
const STANDS: Span = Span::from_millis(3);
const JITTERS: i64 = 3;
/// A rate is measured over so long, and so many of them are kept.
const RATE_OVER: Span = Span::from_millis(250);
const MOST_RATES: usize = 64;
const FEWEST_RATES: usize = 4;

impl Standing {
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        delivered: u32,
        queue: Option<QueueSeen>,
        packet_bytes: u64,
    ) {
        let stands =
            queue.is_some_and(|queue| queue.standing >= STANDS.max(queue.jitter * JITTERS));
        let Some((since, before)) = self.since.filter(|_| stands) else {
            self.since = stands.then_some((now, delivered));
            return;
        };
        let span = now - since;
        if span < RATE_OVER {
            return;
        }
        let bits = f64::from(delivered.wrapping_sub(before)) * packet_bytes as f64 * 8.0;
        if self.rates_bps.len() >= MOST_RATES {
            self.rates_bps.pop_front();
        }
        self.rates_bps.push_back((bits / span.as_secs_f64()) as f32);
        self.since = Some((now, delivered));
    }

    pub(super) fn quantiles<const N: usize>(&self, shares: [f64; N]) -> Option<[u64; N]> {
        if self.rates_bps.len() < FEWEST_RATES {
            return None;
        }
        let mut sorted: Vec<f32> = self.rates_bps.iter().copied().collect();
        sorted.sort_by(f32::total_cmp);
        let last = (sorted.len() - 1) as f64;
        Some(shares.map(|share| sorted[(share * last).round() as usize] as u64))
    }
}
