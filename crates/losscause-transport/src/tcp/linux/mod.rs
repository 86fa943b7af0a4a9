//! TCP as Linux 6.18 has it, with `reno`, `cubic` or `bbr`, counted in full-sized packets.
//!
//! | part | file | source |
//! |---|---|---|
//! | order of events, states | `sender.rs`, `sender/` | net/ipv4/tcp_input.c |
//! | packets in flight, lost, retransmitted | `packets.rs` | RFC 6675 |
//! | round-trip time, timeout | `rtt.rs` | RFC 6298 |
//! | timers of whole ticks | `clock.rs` | kernel/time/timer.c |
//! | loss detection | `rack.rs` | RFC 8985, section 6 |
//! | tail loss probe | `probe.rs` | RFC 8985, section 7 |
//! | reduction of the window | `prr.rs` | RFC 6937 |
//! | spurious timeouts | `frto.rs` | RFC 5682 |
//! | undone cuts | `undo.rs` | RFC 3522, RFC 3708, RFC 4015 |
//! | use of the window | `cwnd.rs` | RFC 7661 |
//! | pacing | `pacing.rs` | net/ipv4/tcp_output.c |
//! | delivery rates | `rate.rs` | draft-cheng-iccrg-delivery-rate-estimation-00 |
//! | BBR | `bbr/` | draft-cardwell-iccrg-bbr-congestion-control-00 |
//! | congestion controls | `control.rs`, `reno.rs`, `cubic.rs`, `hystart.rs`, `steps.rs` | RFC 5681; RFC 9438; Ha and Rhee 2011 |
//! | quick, delayed, compressed ACKs | `acks.rs` | RFC 5681, section 4.2 |
//! | autotuned receive window | `receive_window.rs` | Fisk and Feng 2001 |
//!
//! `reno` and `cubic` are paced only on request, as by the queue discipline `fq`.
//!
//! Not modelled: segmentation offload but for the bursts of paced senders, the limit of the send
//! buffer (`tcp_wmem`), idle applications.

mod acks;
mod bbr;
mod clock;
mod control;
mod cubic;
mod cwnd;
mod frto;
mod hystart;
mod pacing;
mod packets;
mod probe;
mod prr;
mod rack;
mod rate;
mod receive_window;
mod receiver;
mod reno;
mod rtt;
mod sender;
mod steps;
mod undo;

pub(super) use bbr::Bbr;
pub(super) use receiver::{Change, LinuxReceiver};
pub(super) use sender::Linux;
