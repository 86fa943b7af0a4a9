//! What the fuzz targets check, one function per target. Each takes any bytes at all; a panic is a
//! finding.
//!
//! `xtask/tests/corpus.rs` runs the same functions over `fuzz/corpus` under `cargo test`.

mod acks;
mod bytes;
mod capture;
mod packets;
mod rtc;
mod stream;
mod tcp;
mod text;
mod tfrc;

pub use acks::sender_lda;
pub use capture::{link_layers, names, numbered, pcap, pcapng, qlog, rtp, tcp_options};
pub use packets::differentiator;
pub use rtc::rtc_reports;
pub use stream::{stream_control, stream_data};
pub use tcp::{tcp_receiver, tcp_sender};
pub use text::{
    channel, delay_trace, expression, pattern, rate_trace, scenario, setting, sweep, trace,
};
pub use tfrc::{tfrc_receiver, tfrc_sender};

/// A target's name and what it runs.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 26] = [
    ("channel", channel),
    ("delay_trace", delay_trace),
    ("differentiator", differentiator),
    ("expression", expression),
    ("link_layers", link_layers),
    ("names", names),
    ("numbered", numbered),
    ("pattern", pattern),
    ("pcap", pcap),
    ("pcapng", pcapng),
    ("qlog", qlog),
    ("rate_trace", rate_trace),
    ("rtc_reports", rtc_reports),
    ("rtp", rtp),
    ("scenario", scenario),
    ("sender_lda", sender_lda),
    ("setting", setting),
    ("stream_control", stream_control),
    ("stream_data", stream_data),
    ("sweep", sweep),
    ("tcp_options", tcp_options),
    ("tcp_receiver", tcp_receiver),
    ("tcp_sender", tcp_sender),
    ("tfrc_receiver", tfrc_receiver),
    ("tfrc_sender", tfrc_sender),
    ("trace", trace),
];
