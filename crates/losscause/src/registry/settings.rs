//! Which key of a scenario file reaches which parameter. The defaults are not here but with the algorithms.

use super::choice::Field;
use super::{Config, Setting};
use crate::lda::{
    BiazConfig, FlipFlopConfig, SpikeConfig, SpikeThresholds, VegasBufferConfig, ZbsConfig, ZigZagConfig,
};

const fn setting(key: &'static str, meaning: &'static str) -> Setting {
    Setting { key, meaning }
}

pub(super) const BIAZ: &[Setting] = &[
    setting("upper_limit", "k of the upper limit (n + k) T_min, a number above 1; mBiaz if it is below 2"),
    setting("t_min_over", "which intervals may lower T_min: all-intervals or consecutive-packets"),
    setting("t_min_quantile", "T_min is this quantile of the intervals, 0 to 0.5; 0: the smallest one"),
    WINDOW_MS,
    WINDOW_PKTS,
];

pub(super) const SPIKE: &[Setting] = &[
    setting("alpha", "the spike state starts at rott_min + alpha (rott_max - rott_min); 0 to 2"),
    setting("beta", "the spike state ends at rott_min + beta (rott_max - rott_min); 0 to alpha"),
    SPIKE_CURRENT,
    SPIKE_UPDATE,
    JUDGED_BY,
    WINDOW_MS,
    WINDOW_PKTS,
];

pub(super) const SPIKE_TOBE: &[Setting] = &[
    setting("start_ms", "the spike state starts at rott_min + start_ms, milliseconds, not negative"),
    setting("end_ms", "the spike state ends at rott_min + end_ms, milliseconds, 0 to start_ms"),
    SPIKE_CURRENT,
    SPIKE_UPDATE,
    JUDGED_BY,
    WINDOW_MS,
    WINDOW_PKTS,
];

const SPIKE_CURRENT: Setting = setting(
    "current_packet",
    "whether a packet's own ROTT counts among the extremes it is held against: included or excluded",
);
const SPIKE_UPDATE: Setting = setting("update", "when the state may change: every-arrival or at-losses");

const JUDGED_BY: Setting =
    setting("judged_by", "whose trip time decides about a gap: that of the packet after-gap or before-gap");

const WINDOW_MS: Setting = setting(
    "window_ms",
    "the extremes are those of the last so many milliseconds (of 3/4 of them at least); 0: of all",
);
const WINDOW_PKTS: Setting = setting(
    "window_pkts",
    "the extremes are those of the last so many values (about 3/4 at least), 4 or more; 0: of all",
);

pub(super) const ZIGZAG: &[Setting] = &[
    setting("alpha", "gain of the mean ROTT, above 0 to 0.5; its deviation has twice that"),
    setting("above_three", "limit for n > 3: printed (mean - dev/2), mean, or mean-plus-half (mean + dev/2)"),
    setting("deviation_from", "the mean a deviation is taken from: new-mean or old-mean"),
    setting("first_deviation", "the deviation at the start: zero or first-distance"),
    JUDGED_BY,
];

pub(super) const ZBS: &[Setting] = &[
    setting("rott_margin", "Spike if rott < rott_min + rott_margin T_min; not negative"),
    setting("unshared_from", "mBiaz from this T_narr on; below it ZigZag; not negative"),
    setting("ambiguous_from", "ZigZag from this T_narr on; at least unshared_from"),
    setting("shared_from", "Spike from this T_narr on; at least ambiguous_from"),
    setting("t_avg_gain", "gain of T_avg, above 0 to 1"),
    setting("lock_ms", "longest time that a scheme is locked, milliseconds, not negative"),
    setting("lock_pkts", "most received packets that a scheme is locked"),
    setting("lock_at_start", "whether the first scheme is locked too: true or false"),
    setting("first_t_avg", "how T_avg begins: first-interval or zero"),
    setting("update", "when the scheme may change: every-arrival or at-losses"),
];

pub(super) const FLIP_FLOP: &[Setting] = &[
    setting("history", "l: how many round-trip times are looked back on; 1 to 64"),
    setting("eta", "more outliers among them mean congestion; 0 to history"),
    setting("samples", "which acknowledgements bring a round-trip time: new-acks or every-ack"),
    setting("lower_limit", "the mean that the lower control limit is taken from: new-mean or old-mean"),
    setting("neighbour", "what the moving range is taken from: previous-value or previous-within"),
];

pub(super) const VEGAS_BUFFER: &[Setting] = &[
    setting("alpha", "up to so many queued packets mean a wireless loss; 0 to beta"),
    setting("beta", "from so many queued packets on it is congestion; at least alpha"),
    setting("between", "the answer between the two: previous or undecided"),
    setting("window_of", "the window that the queued packets are a part of: cwnd or in-flight"),
];

/// The place of the parameter `key`; none if the algorithm has no such setting.
pub(super) fn field<'a>(config: &'a mut Config, key: &str) -> Option<Field<'a>> {
    match config {
        Config::Biaz(c) => biaz(c, key),
        Config::Spike(c) => spike(c, key),
        Config::ZigZag(c) => zigzag(c, key),
        Config::Zbs(c) => zbs(c, key),
        Config::FlipFlop(c) => flip_flop(c, key),
        Config::VegasBuffer(c) => vegas_buffer(c, key),
        Config::Constant(_) => None,
    }
}

fn biaz<'a>(c: &'a mut BiazConfig, key: &str) -> Option<Field<'a>> {
    Some(match key {
        "upper_limit" => Field::Number(&mut c.upper_limit),
        "t_min_over" => Field::Choice(&mut c.t_min_over),
        "t_min_quantile" => Field::Number(&mut c.t_min_quantile),
        "window_ms" => Field::Millis(&mut c.window.time),
        "window_pkts" => Field::Count(&mut c.window.pkts),
        _ => return None,
    })
}

fn spike<'a>(c: &'a mut SpikeConfig, key: &str) -> Option<Field<'a>> {
    Some(match (key, &mut c.thresholds) {
        ("alpha", SpikeThresholds::Proportional { alpha, .. }) => Field::Number(alpha),
        ("beta", SpikeThresholds::Proportional { beta, .. }) => Field::Number(beta),
        ("start_ms", SpikeThresholds::Fixed { start, .. }) => Field::Millis(start),
        ("end_ms", SpikeThresholds::Fixed { end, .. }) => Field::Millis(end),
        ("current_packet", _) => Field::Choice(&mut c.current_packet),
        ("update", _) => Field::Choice(&mut c.update),
        ("judged_by", _) => Field::Choice(&mut c.judged_by),
        ("window_ms", _) => Field::Millis(&mut c.window.time),
        ("window_pkts", _) => Field::Count(&mut c.window.pkts),
        _ => return None,
    })
}

fn zigzag<'a>(c: &'a mut ZigZagConfig, key: &str) -> Option<Field<'a>> {
    Some(match key {
        "alpha" => Field::Number(&mut c.alpha),
        "above_three" => Field::Choice(&mut c.above_three),
        "deviation_from" => Field::Choice(&mut c.deviation_from),
        "first_deviation" => Field::Choice(&mut c.first_deviation),
        "judged_by" => Field::Choice(&mut c.judged_by),
        _ => return None,
    })
}

fn flip_flop<'a>(c: &'a mut FlipFlopConfig, key: &str) -> Option<Field<'a>> {
    Some(match key {
        "history" => Field::Count(&mut c.history),
        "eta" => Field::Count(&mut c.eta),
        "samples" => Field::Choice(&mut c.samples),
        "lower_limit" => Field::Choice(&mut c.readings.lower_limit),
        "neighbour" => Field::Choice(&mut c.readings.neighbour),
        _ => return None,
    })
}

fn vegas_buffer<'a>(c: &'a mut VegasBufferConfig, key: &str) -> Option<Field<'a>> {
    Some(match key {
        "alpha" => Field::Number(&mut c.alpha),
        "beta" => Field::Number(&mut c.beta),
        "between" => Field::Choice(&mut c.between),
        "window_of" => Field::Choice(&mut c.window_of),
        _ => return None,
    })
}

fn zbs<'a>(c: &'a mut ZbsConfig, key: &str) -> Option<Field<'a>> {
    if let Some((base, key)) = key.split_once('.') {
        return match base {
            "mbiaz" => biaz(&mut c.mbiaz, key),
            "spike" => spike(&mut c.spike, key),
            "zigzag" => zigzag(&mut c.zigzag, key),
            _ => None,
        };
    }
    Some(match key {
        "rott_margin" => Field::Number(&mut c.rott_margin),
        "unshared_from" => Field::Number(&mut c.unshared_from),
        "ambiguous_from" => Field::Number(&mut c.ambiguous_from),
        "shared_from" => Field::Number(&mut c.shared_from),
        "t_avg_gain" => Field::Number(&mut c.t_avg_gain),
        "lock_ms" => Field::Millis(&mut c.lock),
        "lock_pkts" => Field::Count(&mut c.lock_pkts),
        "lock_at_start" => Field::Flag(&mut c.lock_at_start),
        "first_t_avg" => Field::Choice(&mut c.first_t_avg),
        "update" => Field::Choice(&mut c.update),
        _ => return None,
    })
}
