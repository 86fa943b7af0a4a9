//! The running kernel's TCP over the emulator, captured at both hosts: captures whose causes of loss
//! are known.
//!
//! Each flow of a scenario is a connection with the kernel's own congestion control. The hosts use
//! SACK and timestamps, unless the scenario's parameter `sack` or `timestamp_ms` is 0.

use std::collections::BTreeMap;

use losscause::Time;
use losscause_capture::write::PcapWriter;
use losscause_linux::emulator::{Clock, Header, Host, SENDER, Sight};
use losscause_sim::live::Direction;
use losscause_study::capture_files::{KnownCaptures, LostPacket, LostPackets};
use losscause_study::{Experiment, InputError, RunError, Stop};

use super::stack::{Control, controls, release};
use super::transfer;
use crate::captures::CaptureStack;
use crate::captures::stack::TIMESTAMP_MS;
use crate::live::LiveError;

/// The parameter of a scenario that is 0 for hosts without SACK.
const SACK: &str = "sack";
/// Most bytes of a packet in a capture.
const SNAP_BYTES: u32 = 128;

/// The stack `kernel-captures`.
///
/// # Errors
/// This machine lacks root or TUN.
pub(crate) fn stack() -> Result<CaptureStack, RunError> {
    drop(Host::new(SENDER, &[]).map_err(LiveError::from)?);
    Ok(CaptureStack::new(release(), |experiment, seed, stop| Ok(make(experiment, seed, stop)?)))
}

/// Makes the transfers of an experiment and captures them; or says why they were disturbed.
///
/// # Errors
/// The kernel cannot run the flows, a host, the link or a connection fails, or `stop` is requested.
pub fn make(
    experiment: &Experiment,
    seed: u64,
    stop: &Stop,
) -> Result<Result<KnownCaptures, String>, LiveError> {
    let controls = controls(experiment)?;
    if let Some(Control::Loaded(program)) =
        controls.iter().find(|control| matches!(control, Control::Loaded(_)))
    {
        let option = format!("kernel-captures with {}", program.name);
        let problem = "expected a congestion control of the kernel itself";
        return Err(InputError::option(option, problem).into());
    }
    let names: Vec<&str> = controls.iter().map(|control| control.name()).collect();
    let flows = &experiment.network.flows;
    let starts: Vec<Time> = flows.iter().map(|flow| flow.starts_at(seed)).collect();
    let first = starts.iter().min().copied().unwrap_or(Time::ZERO);
    let layout = Experiment { window: (first, experiment.duration), ..experiment.clone() };
    let tested = vec![true; flows.len()];
    let mut capturing = Capturing::default();
    let host = host(experiment);
    let made =
        transfer::run(&layout, tested, seed, (&names, &starts), &host, stop, |sight, clock| {
            capturing.take(sight, clock);
        })?;
    Ok(made.disturbance().map_or_else(|| Ok(capturing.finish()), Err))
}

/// The settings of both hosts.
fn host(experiment: &Experiment) -> [(&'static str, String); 2] {
    [("tcp_sack", SACK), ("tcp_timestamps", TIMESTAMP_MS)].map(|(name, parameter)| {
        let is_off = experiment.parameters.get(parameter) == Some(&0.0);
        (name, u8::from(!is_off).to_string())
    })
}

/// What both ends of the link saw so far.
struct Capturing {
    /// At the sender, and at the peer.
    ends: [PcapWriter<Vec<u8>>; 2],
    begun: Option<Time>,
    /// When the sender's newest packet of data came.
    newest: Time,
    lost: BTreeMap<String, Vec<LostPacket>>,
}

const TAKES_ALL: &str = "a vector takes all that is written";

impl Default for Capturing {
    fn default() -> Self {
        let end = || PcapWriter::new(Vec::new(), SNAP_BYTES).expect(TAKES_ALL);
        Self { ends: [end(), end()], begun: None, newest: Time::ZERO, lost: BTreeMap::new() }
    }
}

impl Capturing {
    fn take(&mut self, sight: &Sight<'_>, clock: Clock) {
        match *sight {
            Sight::Came { at, direction, packet } => {
                let at = clock.since_1970(at);
                self.write(usize::from(direction == Direction::Back), at, packet);
                if direction == Direction::Forward && data(packet).is_some() {
                    self.newest = at;
                }
            }
            Sight::Delivered { written, direction, packet, .. } => {
                let end = usize::from(direction == Direction::Forward);
                self.write(end, clock.since_1970(written), packet);
            }
            Sight::Lost { came, at, cause, direction: Direction::Forward, packet, .. } => {
                let Some((source, seq)) = data(packet) else { return };
                let begun = self.begun.unwrap_or(Time::ZERO);
                let [sent_s, lost_s] =
                    [came, at].map(|at| (clock.since_1970(at) - begun).as_secs_f64());
                let lost = LostPacket { seq, sent_s, lost_s, cause };
                self.lost.entry(source).or_default().push(lost);
            }
            Sight::Lost { .. } => {}
        }
    }

    fn write(&mut self, end: usize, at: Time, packet: &[u8]) {
        if end == 0 {
            self.begun.get_or_insert(at);
        }
        let head = &packet[..packet.len().min(SNAP_BYTES as usize)];
        self.ends[end].write_bytes(at, head, packet.len() as u32).expect(TAKES_ALL);
    }

    fn finish(self) -> KnownCaptures {
        let [sender, receiver] = self.ends.map(PcapWriter::into_inner);
        let of_flow = |(source, mut lost): (String, Vec<LostPacket>)| {
            lost.sort_by(|one, other| one.lost_s.total_cmp(&other.lost_s));
            LostPackets::new(source, lost)
        };
        let lost = self.lost.into_iter().map(of_flow).collect();
        KnownCaptures { sender, receiver, lost, ended: self.newest }
    }
}

/// Sender and number of a packet of data.
fn data(packet: &[u8]) -> Option<(String, u32)> {
    let header = Header::of(packet).filter(|header| header.payload_bytes > 0)?;
    Some((header.source.to_string(), header.seq?))
}
