//! The sender's capture of a run in memory, with the truth about its losses.

use std::collections::BTreeMap;

use losscause::Time;
use losscause_capture::write::{PcapWriter, Transport};
use losscause_sim::truth::Cause;
use losscause_sim::{Detail, Event, Recorder};

use super::captured::{Captured, Sink};
use super::drops::Dropped;
use super::flow::Flow;
use super::lost::{LostPacket, LostPackets};
use super::taps::{Sight, Tap};
use super::{CaptureSettings, Direction, EPOCH};
use crate::{Experiment, InputError, RunError};

/// What the senders' ends of a run send and receive, kept in memory as a pcap file while it runs.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use losscause::Time;
/// use losscause_capture::{Options, analyze};
/// use losscause_sim::truth::Cause;
/// use losscause_study::capture_files::{
///     CaptureSettings, LostPacket, LostPackets, Remembered, SenderCapture,
/// };
/// use losscause_study::{Context, Run, Scenario};
///
/// let scenario = Scenario::parse(
///     r#"
///         title = "one TCP flow and the air"
///         duration_s = 30
///         measure = { bottleneck = "line" }
///         link = [{ name = "line", rate_bps = 4e6, delay_ms = 20, queue_packets = 500,
///                   channel = { kind = "bernoulli", loss = 0.01 } }]
///         flow = [{ name = "transfer", protocol = "tcp", path = ["line"] }]
///     "#,
///     "one-flow.toml",
///     &Context::default(),
/// )?;
/// let experiment = scenario.experiment()?;
/// let mut capture = SenderCapture::new(&experiment, 1, CaptureSettings::default())?;
/// let mut run = Run::new(&experiment, 1)?;
/// let _ = run.advance(Time::MAX, &mut capture, |run, capture| {
///     capture.write_until(run.now());
///     ControlFlow::Continue(())
/// });
///
/// let Remembered { pcap, mut lost } = capture.finish();
/// let analysis = analyze(&pcap[..], "in memory", &Options::all())?;
/// let flow = &analysis.flows[0];
/// let lost: &mut LostPackets = &mut lost[0];
/// for loss in &flow.losses {
///     for found in lost.take(loss, flow.protocol) {
///         let LostPacket { cause, lost_s, .. } = lost.packets()[found];
///         assert!(cause == Cause::Wireless && lost_s <= loss.time_s);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SenderCapture<'a>(Captured<'a, Memory>);

/// A capture in memory and the truth about it.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// The pcap file.
    pub pcap: Vec<u8>,
    /// The lost data packets of each flow that lost some, by the address and port of their sender.
    pub lost: Vec<LostPackets>,
}

impl<'a> SenderCapture<'a> {
    /// Starts a capture. Its clock is that of [`CaptureFiles`](super::CaptureFiles).
    ///
    /// # Errors
    /// A flow's packets do not fit into IPv4.
    pub fn new(
        experiment: &'a Experiment,
        seed: u64,
        settings: CaptureSettings,
    ) -> Result<Self, RunError> {
        let flows = Flow::all(experiment, seed, settings).map_err(|problem| {
            let option = "a capture in memory".to_owned();
            RunError::Input(InputError::Option { option, problem })
        })?;
        Ok(Self(Captured::new(experiment, flows, Memory::new(settings.snap_bytes))))
    }

    /// Takes in what was captured up to `until`, which may be any time that the run has reached, so
    /// that events need not wait in memory for the run's end.
    pub fn write_until(&mut self, until: Time) {
        self.0.write_until(until);
    }

    /// Takes in the rest.
    pub fn finish(self) -> Remembered {
        let Memory { sender, begun, dropped } = self.0.finish();
        let begun = begun.unwrap_or(Time::ZERO);
        let lost = dropped.into_iter().map(|(source, dropped)| {
            let packet = |(seq, at, cause): (u32, Time, _)| LostPacket {
                seq,
                lost_s: (at - begun).as_secs_f64(),
                cause,
            };
            LostPackets::new(source, dropped.into_iter().map(packet).collect())
        });
        Remembered { pcap: sender.into_inner(), lost: lost.collect() }
    }
}

impl Recorder for SenderCapture<'_> {
    fn detail(&self) -> Detail {
        self.0.detail()
    }

    fn record(&mut self, event: &Event) {
        self.0.record(event);
    }
}

/// What was captured and dropped so far.
#[derive(Debug)]
struct Memory {
    sender: PcapWriter<Vec<u8>>,
    /// When the first packet was captured.
    begun: Option<Time>,
    /// Data packets by their sender's address and port: number, time and cause.
    dropped: BTreeMap<String, Vec<(u32, Time, Cause)>>,
}

const TAKES_ALL: &str = "a vector takes all that is written";

impl Memory {
    fn new(snap_bytes: u32) -> Self {
        let sender = PcapWriter::new(Vec::new(), snap_bytes).expect(TAKES_ALL);
        Self { sender, begun: None, dropped: BTreeMap::new() }
    }
}

impl Sink for Memory {
    fn capture(&mut self, Sight { at, tap, packet }: Sight) {
        if tap != Tap::Sender {
            return;
        }
        self.begun.get_or_insert(at);
        self.sender.write(EPOCH + (at - Time::ZERO), &packet).expect(TAKES_ALL);
    }

    fn drop(&mut self, dropped: &Dropped<'_>) {
        let seq = match dropped.packet.transport {
            Transport::Tcp(tcp) => tcp.sequence,
            Transport::Rtp(rtp) => rtp.sequence.into(),
            Transport::Rtcp(_) => return,
        };
        // A SYN has no data.
        if Direction::of(dropped.info.kind) == Direction::Forward
            && dropped.packet.payload_bytes > 0
        {
            let lost = self.dropped.entry(dropped.packet.source.to_string()).or_default();
            lost.push((seq, dropped.at, dropped.cause));
        }
    }
}
