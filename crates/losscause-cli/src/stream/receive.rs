//! `losscause stream receive`: one stream, to a file.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use losscause::registry::Registry;
use losscause_media::net::Receiving;
use losscause_media::{
    DEFAULT_LDA, End, Event, Key, ReceiverConfig, ReceiverStats, Reorder, receiver_lda,
};
use losscause_study::InputError;
use losscause_study::tools::atomic::AtomicFile;
use tokio::time::{MissedTickBehavior, interval};

use super::show::{self, EVERY, Line, Show};
use super::{KeyOption, block_on, refused, span};
use crate::failure::{Failure, StreamError};
use crate::output::Format;
use crate::{interrupt, notice};

/// The arguments of `stream receive`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The address to wait at: 0.0.0.0 for every address of this machine, port 0 for any free port.
    #[arg(value_name = "ADDR:PORT")]
    at: String,
    /// Write the stream to this file. Packets are put in order; those that are lost are left out.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The loss differentiation algorithm, with its published parameters; `always congestion` is
    /// plain TFRC.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_LDA)]
    lda: String,
    /// The sender is gone after so many seconds of silence.
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    patience: f64,
    #[command(flatten)]
    key: KeyOption,
    /// Output format: a line for people, or JSON lines, once per second and for every gap.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How a stream ended, and whose it was.
struct Outcome {
    end: End,
    peer: Option<SocketAddr>,
    stats: ReceiverStats,
}

/// Receives one stream, and prints what happened.
pub(super) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let key = arguments.key.key()?;
    let at = arguments.at.parse().map_err(|_| {
        InputError::option(
            arguments.at.clone(),
            "is no address, expected ADDR:PORT, such as 0.0.0.0:5004",
        )
    })?;
    let lda = receiver_lda(registry, &arguments.lda).map_err(|error| refused(&error))?;
    let config = ReceiverConfig { lda, patience: span(arguments.patience) };
    config.validate().map_err(|error| refused(&error))?;
    let mut file = arguments.out.as_deref().map(AtomicFile::create).transpose()?;
    let interrupted = interrupt::postpone();
    let show = Show::new(arguments.format);
    let outcome = block_on(receive(at, &config, &key, &mut file, (&show, interrupted)))?;
    let kept = file.is_some() && outcome.peer.is_some();
    // An older file of this name stays if no stream came.
    if let Some(file) = file.filter(|_| kept) {
        file.finish()?;
    }
    show.close(&show::received(&outcome.stats), &outcome.end)?;
    interrupt::end_if_interrupted();
    match (outcome.end, outcome.peer) {
        (end @ (End::PeerGone | End::PeerStopped), Some(peer)) => {
            Err(StreamError::Peer { peer, end, kept }.into())
        }
        _ => Ok(()),
    }
}

async fn receive(
    at: SocketAddr,
    config: &ReceiverConfig,
    key: &Key,
    file: &mut Option<AtomicFile>,
    (show, interrupted): (&Show, &AtomicBool),
) -> Result<Outcome, Failure> {
    let mut receiving = Receiving::bind(at, config, key).await.map_err(StreamError::Net)?;
    notice::print(&format!("waiting at {}", receiving.address()));
    let mut second = interval(EVERY);
    let mut look = interval(Duration::from_millis(100));
    second.set_missed_tick_behavior(MissedTickBehavior::Skip);
    look.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut order = Reorder::default();
    let mut peer = None;
    let mut is_warned = false;
    let end = loop {
        tokio::select! {
            event = receiving.event() => match event {
                Some(Event::Started { peer: from, .. }) => {
                    peer = Some(from);
                    show.json(|time_s| Line::Started { time_s, peer: from.to_string() })?;
                }
                Some(Event::Packet(packet)) => {
                    order.push(packet.seq, packet.payload);
                    write(file, || order.pop())?;
                }
                Some(Event::Gap(gap)) => show.json(|time_s| Line::Gap {
                    time_s,
                    first: gap.first,
                    packets: gap.packets,
                    wireless: gap.wireless,
                    reason: gap.judgement.reason.to_string(),
                })?,
                Some(Event::Ended(end)) => break end,
                // The socket failed; closing it says why.
                None => break End::Stopped,
            },
            _ = second.tick() => {
                let stats = receiving.stats();
                if peer.is_some() {
                    show.receiving(&stats)?;
                } else if stats.foreign_pkts > 0 && !is_warned {
                    is_warned = true;
                    notice::print("packets came that no sender with this key has sent");
                }
            }
            _ = look.tick() => if interrupted.load(Ordering::Relaxed) {
                break End::Stopped;
            },
        }
    };
    write(file, || order.drain())?;
    let stats = receiving.close().await.map_err(StreamError::Net)?;
    Ok(Outcome { end, peer, stats })
}

/// Writes the packets that are next in order.
fn write(
    file: &mut Option<AtomicFile>,
    mut next: impl FnMut() -> Option<Vec<u8>>,
) -> Result<(), Failure> {
    while let Some(payload) = next() {
        if let Some(file) = file {
            file.write_all(&payload).map_err(|reason| file.failed(reason))?;
        }
    }
    Ok(())
}
