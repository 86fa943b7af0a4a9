//! `losscause stream send`: a file, or made-up packets, to a receiver.

use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use losscause_media::net::Sending;
use losscause_media::{End, Key, Media, SenderConfig};
use losscause_study::InputError;
use losscause_study::files::{self, Disk};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::show::{self, EVERY, Show};
use super::{KeyOption, block_on, refused, span};
use crate::failure::{Failure, StreamError};
use crate::interrupt;
use crate::output::Format;

/// The arguments of `stream send`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The receiver's address.
    #[arg(value_name = "HOST:PORT")]
    to: String,
    /// The file to send; without one, made-up packets until Ctrl-C.
    file: Option<PathBuf>,
    /// Offer media at this rate, bits per second [default: as much as TFRC allows]
    #[arg(long, value_name = "BPS", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Stop after so many seconds.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    duration: Option<f64>,
    /// Never send faster than this, bits per second of UDP payload.
    #[arg(long, value_name = "BPS", default_value_t = 100e6)]
    max_rate: f64,
    /// Size of a packet, bytes of UDP payload.
    #[arg(long, value_name = "BYTES", default_value_t = 1200)]
    packet_bytes: u16,
    /// Largest IP packet of the path, bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1500)]
    mtu: u32,
    /// The receiver is gone after so many seconds of silence.
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    patience: f64,
    #[command(flatten)]
    key: KeyOption,
    /// Output format: a line for people, or JSON lines, once per second.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Sends, and prints what happened.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let key = arguments.key.key()?;
    let to = address(&arguments.to)?;
    let config = arguments.config(to)?;
    let source = Source::open(arguments)?;
    let interrupted = interrupt::postpone();
    let show = Show::new(arguments.format);
    let (end, stats) = block_on(send(to, &config, &key, source, (&show, interrupted)))?;
    show.close(&show::sent(&stats), &end)?;
    interrupt::end_if_interrupted();
    match end {
        End::Finished | End::Stopped => Ok(()),
        End::NoAnswer => Err(StreamError::NoAnswer(to).into()),
        End::PeerGone | End::PeerStopped => {
            Err(StreamError::Peer { peer: to, end, kept: false }.into())
        }
    }
}

async fn send(
    to: SocketAddr,
    config: &SenderConfig,
    key: &Key,
    mut source: Source,
    (show, interrupted): (&Show, &AtomicBool),
) -> Result<(End, losscause_media::SenderStats), Failure> {
    let sending = Sending::start(to, config, key).await.map_err(StreamError::Net)?;
    let mut second = interval(EVERY);
    let mut look = interval(Duration::from_millis(100));
    second.set_missed_tick_behavior(MissedTickBehavior::Skip);
    look.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let begun = Instant::now();
    {
        let feed = feed(&sending, &mut source, begun);
        tokio::pin!(feed);
        while !interrupted.load(Ordering::Relaxed) && !sending.has_ended() {
            tokio::select! {
                fed = &mut feed => {
                    fed?;
                    break;
                }
                _ = second.tick() => show.sending(&sending.stats())?,
                _ = look.tick() => {}
            }
        }
    }
    let stopped = interrupted.load(Ordering::Relaxed);
    let ended = if stopped { sending.stop().await } else { sending.finish().await };
    Ok(ended.map_err(StreamError::Net)?)
}

/// Hands in packets at the offered rate until there are no more, or the stream has ended.
async fn feed(sending: &Sending, source: &mut Source, begun: Instant) -> Result<(), StreamError> {
    let mut offered_bytes = 0_u64;
    while let Some(payload) = source.next(sending.media_bytes(), begun.elapsed())? {
        if let Some(bps) = source.rate_bps {
            let due = Duration::try_from_secs_f64(8.0 * offered_bytes as f64 / bps)
                .unwrap_or(Duration::MAX);
            tokio::time::sleep(due.saturating_sub(begun.elapsed())).await;
        }
        offered_bytes += payload.len() as u64;
        if sending.send(Media { payload, ..Media::default() }).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Where packets come from.
struct Source {
    file: Option<(File, String)>,
    rate_bps: Option<f64>,
    duration: Option<Duration>,
}

impl Source {
    fn open(arguments: &Arguments) -> Result<Self, InputError> {
        let number =
            |option: &str, value: f64, expected: &str| match value.is_finite() && value > 0.0 {
                true => Ok(value),
                false => {
                    let problem = format!("expected {expected}");
                    Err(InputError::option(format!("{option} {value}"), problem))
                }
            };
        let rate_bps = arguments
            .rate
            .map(|bps| number("--rate", bps, "bits per second above 0"))
            .transpose()?;
        let secs = arguments
            .duration
            .map(|secs| number("--duration", secs, "seconds above 0"))
            .transpose()?;
        let duration = secs.map(|secs| Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX));
        let file = arguments.file.as_deref().map(open).transpose()?;
        Ok(Self { file, rate_bps, duration })
    }

    /// The content of the next packet; none at the end.
    fn next(&mut self, bytes: usize, elapsed: Duration) -> Result<Option<Vec<u8>>, StreamError> {
        if self.duration.is_some_and(|duration| elapsed >= duration) {
            return Ok(None);
        }
        let Some((file, name)) = &mut self.file else { return Ok(Some(vec![0; bytes])) };
        let mut payload = Vec::with_capacity(bytes);
        file.take(bytes as u64)
            .read_to_end(&mut payload)
            .map_err(|reason| StreamError::Unreadable { file: name.clone(), reason })?;
        Ok(Some(payload).filter(|payload| !payload.is_empty()))
    }
}

const MEDIA: &str = "a file to send";

fn open(path: &Path) -> Result<(File, String), InputError> {
    let unreadable = |reason: io::Error| files::unreadable(&Disk, path, &reason, MEDIA);
    let file = File::open(path).map_err(unreadable)?;
    let name = path.display().to_string();
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    if metadata.is_file() && metadata.len() == 0 {
        return Err(InputError::file(name, "is empty", MEDIA));
    }
    Ok((file, name))
}

fn address(text: &str) -> Result<SocketAddr, InputError> {
    let refused = |problem: String| InputError::option(text, problem);
    let expected = "expected HOST:PORT, such as 192.0.2.1:5004";
    let mut found = text
        .to_socket_addrs()
        .map_err(|reason| refused(format!("is no address ({reason}), {expected}")))?;
    found.next().ok_or_else(|| refused(format!("has no address, {expected}")))
}

impl Arguments {
    fn config(&self, to: SocketAddr) -> Result<SenderConfig, InputError> {
        let headers = if to.is_ipv4() { 28 } else { 48 };
        let most = self.mtu.saturating_sub(headers);
        if u32::from(self.packet_bytes) > most {
            let problem = format!(
                "is larger than an MTU of {} bytes takes, expected at most {most}: IP and UDP add {headers} bytes",
                self.mtu
            );
            return Err(InputError::option(
                format!("--packet-bytes {}", self.packet_bytes),
                problem,
            ));
        }
        let config = SenderConfig {
            packet_bytes: self.packet_bytes,
            max_rate_bps: self.max_rate as u64,
            patience: span(self.patience),
            ..SenderConfig::default()
        };
        config.validate().map_err(|error| refused(&error))?;
        Ok(config)
    }
}
