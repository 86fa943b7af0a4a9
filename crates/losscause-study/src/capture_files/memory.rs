//! The captures of a run in memory, with the truth about its losses.

use std::collections::BTreeMap;

use losscause::Time;
use losscause_capture::write::{PcapWriter, Transport};
use losscause_sim::{Detail, Event, Recorder};

use super::captured::{Captured, Sink};
use super::drops::Dropped;
use super::flow::Flow;
use super::lost::{LostPacket, LostPackets};
use super::taps::{Sight, Tap};
use super::{CaptureSettings, Direction, EPOCH};
use crate::trace_file::Filter;
use crate::{Experiment, InputError, RunError};

/// What both ends of a run's measured flows send and receive, kept in memory as pcap files while it
/// runs.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use losscause::Time;
/// use losscause_capture::{Options, analyze};
/// use losscause_sim::truth::Cause;
/// use losscause_study::capture_files::{
///     CaptureSettings, KnownCaptures, LostPacket, LostPackets, MemoryCaptures,
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
/// let mut capture = MemoryCaptures::new(&experiment, 1, CaptureSettings::default())?;
/// let mut run = Run::new(&experiment, 1)?;
/// let _ = run.advance(Time::MAX, &mut capture, |run, capture| {
///     capture.write_until(run.now());
///     ControlFlow::Continue(())
/// });
///
/// let KnownCaptures { sender, mut lost, .. } = capture.finish();
/// let analysis = analyze(&sender[..], "in memory", &Options::all())?;
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
pub struct MemoryCaptures<'a> {
    captured: Captured<'a, Memory>,
    ended: Time,
}

/// Captures whose causes of loss are known, in memory.
#[derive(Clone, Debug)]
pub struct KnownCaptures {
    /// The pcap file of the senders' ends.
    pub sender: Vec<u8>,
    /// The pcap file of the receivers' ends.
    pub receiver: Vec<u8>,
    /// The lost data packets of each flow that lost some, by the address and port of their sender;
    /// their times count from the first packet of the senders' capture.
    pub lost: Vec<LostPackets>,
    /// When the run ended, by the captures' clock.
    pub ended: Time,
}

impl<'a> MemoryCaptures<'a> {
    /// Starts captures. Their clock is that of [`CaptureFiles`](super::CaptureFiles).
    ///
    /// # Errors
    /// A flow's packets do not fit into IPv4.
    pub fn new(
        experiment: &'a Experiment,
        seed: u64,
        settings: CaptureSettings,
    ) -> Result<Self, RunError> {
        let flows = Flow::all(experiment, seed, settings).map_err(|problem| {
            RunError::Input(InputError::option("a capture in memory", problem))
        })?;
        let measured = experiment.network.flows.iter().filter(|flow| flow.measured);
        let names: Vec<String> = measured.map(|flow| flow.name.clone()).collect();
        let filter = Filter::default().flows(&names, &experiment.network, "the measured flows")?;
        let memory = Memory::new(settings.snap_bytes);
        let captured = Captured::new(experiment, flows, memory).filtered(filter);
        Ok(Self { captured, ended: EPOCH + (experiment.duration - Time::ZERO) })
    }

    /// Takes in what was captured up to `until`, which may be any time that the run has reached, so
    /// that events need not wait in memory for the run's end.
    pub fn write_until(&mut self, until: Time) {
        self.captured.write_until(until);
    }

    /// Takes in the rest.
    pub fn finish(self) -> KnownCaptures {
        let ended = self.ended;
        let Memory { sender, receiver, lost, .. } = self.captured.finish();
        let lost = lost.into_iter().map(|(source, lost)| LostPackets::new(source, lost)).collect();
        let [sender, receiver] = [sender, receiver].map(PcapWriter::into_inner);
        KnownCaptures { sender, receiver, lost, ended }
    }
}

impl Recorder for MemoryCaptures<'_> {
    fn detail(&self) -> Detail {
        self.captured.detail()
    }

    fn record(&mut self, event: &Event) {
        self.captured.record(event);
    }
}

/// What was captured and dropped so far.
#[derive(Debug)]
struct Memory {
    sender: PcapWriter<Vec<u8>>,
    receiver: PcapWriter<Vec<u8>>,
    /// When the first packet was captured at a sender.
    begun: Option<Time>,
    /// Lost data packets by their sender's address and port.
    lost: BTreeMap<String, Vec<LostPacket>>,
}

const TAKES_ALL: &str = "a vector takes all that is written";

impl Memory {
    fn new(snap_bytes: u32) -> Self {
        let [sender, receiver] =
            [(); 2].map(|()| PcapWriter::new(Vec::new(), snap_bytes).expect(TAKES_ALL));
        Self { sender, receiver, begun: None, lost: BTreeMap::new() }
    }
}

impl Sink for Memory {
    fn capture(&mut self, Sight { at, tap, packet }: Sight) {
        let writer = match tap {
            Tap::Sender => &mut self.sender,
            Tap::Receiver => &mut self.receiver,
            Tap::Bottleneck => return,
        };
        if tap == Tap::Sender {
            self.begun.get_or_insert(at);
        }
        writer.write(EPOCH + (at - Time::ZERO), &packet).expect(TAKES_ALL);
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
            let Dropped { at, cause, info, packet, .. } = *dropped;
            // Its sending was captured before.
            let begun = self.begun.unwrap_or(at);
            let since_begin = |at: Time| (at - begun).as_secs_f64();
            // A packet that is not timed is its flow's only one of its number.
            let sent_s = since_begin(info.timing.map_or(at, |timing| timing.sent_at));
            let lost = LostPacket { seq, sent_s, lost_s: since_begin(at), cause };
            self.lost.entry(packet.source.to_string()).or_default().push(lost);
        }
    }
}
