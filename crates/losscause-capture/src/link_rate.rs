//! How fast a link emptied its queue, over time.

use losscause::{Span, Time};
use serde::Serialize;

use crate::flow::Run;

/// A rate that holds until the next step.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{Options, RateStep, analyze};
///
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let analysis = analyze(capture, "sender.pcap.gz", &Options::all())?;
/// let fit = analysis.flows[0].fit.as_ref().expect("a queue stood");
/// let rates = fit.rates.iter().map(|RateStep { rate_bps, .. }| *rate_bps);
/// assert_eq!(rates.fold(fit.rate_bps, f64::min), fit.rate_bps, "its rate did not change");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RateStep {
    /// From when on, seconds after the flow's first packet.
    pub from_s: f64,
    /// Bits per second, with all headers from IP on.
    pub rate_bps: f64,
}

/// Of so many runs before and behind one, those that waited as long tell whether a queue stood.
const NEAR: usize = 8;
/// Runs wait as long as each other if they differ by this part at most.
const ALIKE: i64 = 8;
/// A run beside a change of rate has parts of both: so many in a row make a step.
const CONFIRMED: usize = 2;
/// Rates that differ by more than this part are two: runs begin and end at acknowledgements, and
/// are one or two wrong.
const DIFFERS: f64 = 0.15;

/// The runs in which a queue stood, without those on a path that had become longer.
///
/// A busy link passes packets at its own rate, so that the round trip follows the flight (Little's
/// law). On a path that is longer, as behind another satellite, packets seem to wait while the link
/// rests: the round trip stays, and the rate follows the flight. So where many runs waited for the
/// same time and their rates differ, that time is the path's.
pub(crate) fn of_queues(runs: &[Run], header_bytes: u64) -> Vec<Run> {
    let queued = |&(place, run): &(usize, &Run)| {
        let near = &runs[place.saturating_sub(NEAR)..runs.len().min(place + NEAR + 1)];
        let is_alike = |other: &&Run| (other.waited - run.waited).abs() * ALIKE <= run.waited;
        let alike: Vec<&Run> = near.iter().filter(is_alike).collect();
        let mut rates: Vec<f64> = alike.iter().map(|one| one.rate_bps(header_bytes)).collect();
        rates.sort_by(f64::total_cmp);
        let quarter = rates.len() / 4;
        let differ = rates[quarter] < (1.0 - DIFFERS) * rates[rates.len() - 1 - quarter];
        let path = alike.iter().map(|one| one.waited).min().unwrap_or(Span::ZERO);
        alike.len() < NEAR || !differ || run.spare >= path
    };
    runs.iter().enumerate().filter(queued).map(|(_, run)| *run).collect()
}

/// The rate over time as the acknowledgements tell it, from `begun` on. Times are those of
/// acknowledgements.
pub(crate) fn steps(runs: &[Run], header_bytes: u64, begun: Time) -> Vec<RateStep> {
    let rate = |run: &Run| run.rate_bps(header_bytes);
    // Of each: its beginning, its runs together, and how many they are.
    let mut steps: Vec<(f64, Run, usize)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let next = runs.get(place..place + CONFIRMED).unwrap_or_default();
        let is_new = |(_, step, _): &(f64, Run, usize)| {
            let is_faster = |run: &Run| rate(step) < (1.0 - DIFFERS) * rate(run);
            let is_slower = |run: &Run| rate(run) < (1.0 - DIFFERS) * rate(step);
            !next.is_empty() && (next.iter().all(is_faster) || next.iter().all(is_slower))
        };
        match steps.last_mut() {
            Some(step) if !is_new(step) => {
                step.1.add(*run);
                step.2 += 1;
            }
            // A queue that overflows as the link becomes slower hides its runs behind losses, and
            // one that empties as it becomes faster has none.
            Some((_, step, _)) => {
                let from = step.ended;
                steps.push(((from - begun).as_secs_f64(), *run, 1));
            }
            None => steps.push((0.0, *run, 1)),
        }
    }
    let confirmed = steps.iter().filter(|(_, _, runs)| *runs >= CONFIRMED);
    confirmed.map(|(from_s, run, _)| RateStep { from_s: *from_s, rate_bps: rate(run) }).collect()
}

/// The share of the time at one of these levels, from 0 to 1, of rates and how long each lasted.
pub(crate) fn share_at(rates: &[(f64, f64)], levels: [f64; 2]) -> f64 {
    let is_near = |rate: f64| levels.iter().any(|level| (rate - level).abs() <= DIFFERS * level);
    let near: f64 = rates.iter().filter(|(rate, _)| is_near(*rate)).map(|rate| rate.1).sum();
    near / rates.iter().map(|rate| rate.1).sum::<f64>()
}

/// What a link of these rates carries between two times, bits.
pub(crate) fn bits_between(steps: &[RateStep], from_s: f64, to_s: f64) -> f64 {
    let ends = steps.iter().skip(1).map(|next| next.from_s).chain([f64::INFINITY]);
    let bits = |(place, (step, end)): (usize, (&RateStep, f64))| {
        let from = if place == 0 { from_s } else { from_s.max(step.from_s) };
        step.rate_bps * (to_s.min(end) - from).max(0.0)
    };
    steps.iter().zip(ends).enumerate().map(bits).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run every second, of packets that waited so long, milliseconds, at this rate, Mb/s.
    fn runs(of: impl IntoIterator<Item = (i64, u64)>) -> Vec<Run> {
        let run = |(second, (waited_ms, mbps)): (i64, (i64, u64))| Run {
            ended: Time::ZERO + Span::from_millis(1_000 * second + 100),
            lasted: Span::from_millis(100),
            bytes: 12_500 * mbps,
            packets: 10,
            acks: 5,
            waited: Span::from_millis(waited_ms),
            spare: Span::from_millis(waited_ms - 1),
        };
        (0..).zip(of).map(run).collect()
    }

    #[test]
    fn a_wait_that_stays_at_any_rate_is_the_paths() {
        // 7 ms whatever the rate is, and a queue of 60 ms at the link's rate.
        let longer = runs((0..20).map(|k| (7, 5 + k * 7 % 30)));
        assert_eq!(of_queues(&longer, 0), []);
        let with_queue =
            runs((0..20).map(|k| if k < 4 { (60 + k, 50) } else { (7, 5 + k as u64 * 7 % 30) }));
        assert_eq!(of_queues(&with_queue, 0), with_queue[..4]);
    }

    #[test]
    fn a_wait_that_follows_the_rate_is_a_queues() {
        let steady = runs((0..20).map(|_| (30, 10)));
        assert_eq!(of_queues(&steady, 0), steady);
        // As many packets wait at 2, 4 and 8 Mb/s.
        let changes = runs((0..30).map(|k| (400 >> (k / 10), 2 << (k / 10))));
        assert_eq!(of_queues(&changes, 0), changes);
    }

    #[test]
    fn traffic_that_comes_and_goes_makes_two_levels() {
        let rates = [(5e6, 3.0), (5.2e6, 1.0), (7e6, 1.0), (10e6, 5.0)];
        assert!((share_at(&rates, [5e6, 10e6]) - 0.9).abs() < 1e-9);
    }

    #[test]
    fn two_runs_make_a_step_and_one_does_not() {
        let steps = steps(
            &runs([(9, 90), (9, 10), (9, 10), (9, 30), (9, 10), (9, 5), (9, 5)]),
            0,
            Time::ZERO,
        );
        // The rate changed where the last run before ended.
        let expected =
            [(1.0, 12.5e6), (4.1, 5e6)].map(|(from_s, rate_bps)| RateStep { from_s, rate_bps });
        assert_eq!(steps.len(), 2, "{steps:?}");
        assert_eq!(steps[1], expected[1]);
        assert!((bits_between(&expected, 3.1, 5.1) - 17.5e6).abs() < 1.0);
        assert_eq!(bits_between(&expected, -1.0, 1.0), 25e6, "the first rate held before");
    }
}
