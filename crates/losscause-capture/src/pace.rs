//! How fast a flow's data went, and what held them up.

use losscause::Time;
use serde::Serialize;

use crate::flow::{self, FlowResult, Vantage};
use crate::units;

/// How fast a flow's data went.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{Options, Pace, Queueing, Rtt, Sending, analyze};
///
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let analysis = analyze(capture, "sender.pcap.gz", &Options::all())?;
/// let flow = &analysis.flows[0];
/// let Some(Pace { lasted_s, sending: Some(sending), .. }) = flow.pace else {
///     panic!("seen at the sender")
/// };
/// let Sending { idle_s, window_full_s, rtt: Some(Rtt { least_ms, .. }), .. } = sending else {
///     panic!("measured")
/// };
/// assert!(idle_s + window_full_s < 0.01 * lasted_s, "only the path held it up");
/// assert!((40.0..45.0).contains(&least_ms), "20 ms each way");
/// let Some(Queueing { p95_ms, .. }) = flow.queueing else { panic!("delays are known") };
/// assert!(p95_ms > least_ms);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pace {
    /// From the first packet with data to the last packet that has to do with them, seconds.
    pub lasted_s: f64,
    /// Distinct data over that time, bits per second.
    pub rate_bps: f64,
    /// Half of the time the rate was lower, bits per second; none of a flow of less than half a
    /// second.
    pub rate_p50_bps: Option<f64>,
    /// The least rate between the first and the last data.
    pub rate_least_bps: Option<f64>,
    /// Over so many seconds each of these two rates is counted.
    pub rate_step_s: Option<f64>,
    /// Only seen at the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sending: Option<Sending>,
}

/// What a sender did with its time. What is left waited for the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sending {
    /// Nothing was in flight: the application gave it nothing to send, seconds.
    pub idle_s: f64,
    /// The receiver's window was full or closed, seconds.
    pub window_full_s: f64,
    /// The longest time with data in flight in which nothing passed in either direction, seconds.
    pub stall_s: f64,
    /// When that began, seconds after the capture's first packet.
    pub stall_from_s: f64,
    /// Round trips; none if there was no measurement.
    pub rtt: Option<Rtt>,
}

/// Round-trip times, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rtt {
    /// The shortest.
    pub least_ms: f64,
    /// Half of them were shorter: of a sample, evenly over time.
    pub p50_ms: f64,
    /// The longest.
    pub most_ms: f64,
}

impl Pace {
    /// Of a flow; none if all of it passed at once.
    pub(crate) fn of(pace: &flow::Pace, result: &FlowResult, begun: Time) -> Option<Self> {
        let lasted_s = pace.lasted().as_secs_f64();
        if lasted_s <= 0.0 {
            return None;
        }
        let steps = pace.rates();
        let ordered = steps.as_ref().map(|(rates, _)| {
            let mut rates = rates.clone();
            rates.sort_by(f64::total_cmp);
            rates
        });
        let is_seen = result.vantage == Vantage::Sender && !result.is_one_way;
        Some(Self {
            lasted_s,
            rate_bps: 8.0 * result.bytes as f64 / lasted_s,
            rate_p50_bps: ordered.as_ref().map(|rates| rates[rates.len() / 2]),
            rate_least_bps: ordered.as_ref().map(|rates| rates[0]),
            rate_step_s: steps.map(|(_, length)| length.as_secs_f64()),
            sending: is_seen.then(|| Sending::of(pace, result, begun)),
        })
    }

    /// In one line: "1.4 Mb/s for 10.2 s (median 1.5 Mb/s, worst 0.2 Mb/s over 0.27 s); RTT 40 ms,
    /// median 43 ms, worst 120 ms; idle 2.1 s".
    pub fn told(&self) -> String {
        let mut told = format!("{} for {:.1} s", units::rate(self.rate_bps), self.lasted_s);
        if let (Some(p50), Some(least), Some(step)) =
            (self.rate_p50_bps, self.rate_least_bps, self.rate_step_s)
        {
            told += &format!(
                " (median {}, worst {} over {step:.2} s)",
                units::rate(p50),
                units::rate(least)
            );
        }
        let Some(sending) = self.sending else { return told };
        if let Some(Rtt { least_ms, p50_ms, most_ms }) = sending.rtt {
            let [least, p50, most] = [least_ms, p50_ms, most_ms].map(units::ms);
            told += &format!("; round trip {least}, median {p50}, worst {most}");
        }
        for (seconds, what) in [
            (sending.idle_s, "nothing to send for"),
            (sending.window_full_s, "receiver's window full for"),
            (sending.stall_s, "longest silence with data in flight"),
        ] {
            if seconds >= 0.05 {
                told += &format!("; {what} {seconds:.1} s");
            }
        }
        told
    }
}

impl Pace {
    /// What its sender waited for, in a sentence: "In 13.8 s its sender waited 12.0 s for the
    /// receiver's window, 0.2 s for its application and 1.6 s for the path.". None if that is not
    /// seen.
    pub fn told_waits(&self) -> Option<String> {
        let Sending { idle_s, window_full_s, .. } = self.sending?;
        let path_s = (self.lasted_s - idle_s - window_full_s).max(0.0);
        Some(format!(
            "In {:.1} s its sender waited {window_full_s:.1} s for the receiver's window, {idle_s:.1} s for its application and \
             {path_s:.1} s for the path.",
            self.lasted_s
        ))
    }
}

impl Sending {
    fn of(pace: &flow::Pace, result: &FlowResult, begun: Time) -> Self {
        let stall =
            pace.stall.map(|(from, lasted)| ((from - begun).as_secs_f64(), lasted.as_secs_f64()));
        let (stall_from_s, stall_s) = stall.unwrap_or_default();
        let median = result.at_sender.as_ref().and_then(|trips| trips.sample().quantile(0.5));
        let rtt = pace.rtt.zip(median).map(|((least, most), p50)| Rtt {
            least_ms: least.as_millis_f64(),
            p50_ms: p50.as_millis_f64(),
            most_ms: most.as_millis_f64(),
        });
        let idle_s = pace.idle.as_secs_f64();
        let window_full_s = pace.window_full.as_secs_f64();
        Self { idle_s, window_full_s, stall_s, stall_from_s, rtt }
    }
}
