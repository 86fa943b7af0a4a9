//! The way from a capture to its analysis: frame by frame, each flow as it ends.

use std::collections::BTreeMap;
use std::io::Read;

use losscause::{Span, Time};

use super::{Analysis, Flow, Options};
use crate::CaptureError;
use crate::diagnose::{self, Captured};
use crate::flow::{FlowResult, FlowTable, Protocol, Rules, State};
use crate::frames::{Frames, LinkType, Truncation, decompressed};
use crate::judge::Words;
use crate::minor;
use crate::names::Names;
use crate::observe::Watch;
use crate::packet::{Packet, Parsed, Radio, Transport, Unread, rtcp};
use crate::qlog;
use crate::series::Budget;

/// Flows without losses that are listed.
const MAX_LISTED_FLOWS: usize = 10_000;
/// Flows that are kept over time.
const MAX_DRAWN_FLOWS: usize = 16;
/// Flows with losses that are listed.
const MAX_LOSSY_FLOWS: usize = 100_000;

/// Analyses a capture.
///
/// # Errors
/// If `source` is no capture that can be read. A capture that ends early is analysed as far as it
/// goes, and the analysis says so.
pub fn analyze(
    mut source: impl Read,
    file: &str,
    options: &Options,
) -> Result<Analysis, CaptureError> {
    analyze_and(&mut source, file, options, &mut |_, _, _| {})
}

/// As [`analyze`], of a capture that is still being made: hands a [`Glance`] on for each second of
/// it.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_live(
    mut source: impl Read,
    file: &str,
    options: &Options,
    glance: &mut dyn FnMut(Glance),
) -> Result<Analysis, CaptureError> {
    let mut next: Option<Time> = None;
    analyze_and(&mut source, file, options, &mut |now, _, reading| {
        let due = *next.get_or_insert(now + GLANCE);
        if now >= due {
            next = Some(now + GLANCE);
            glance(reading.glance());
        }
    })
}

/// As [`analyze`], of a capture that is in several files, as a ring buffer's: flows go on from one
/// to the next. Frames are numbered within their file.
///
/// # Errors
/// If a part is no capture that can be read.
pub fn analyze_parts<'a>(
    parts: impl IntoIterator<Item = Box<dyn Read + 'a>>,
    file: &str,
    options: &Options,
) -> Result<Analysis, CaptureError> {
    let mut reading = Reading::new(options, Rules::of(options, file), file);
    let mut truncation = None;
    for part in parts {
        let mut frames = Frames::of(decompressed(part)?)?;
        reading.read(&mut frames, &mut |_, _, _| {});
        truncation = truncation.or(frames.truncation().cloned());
    }
    reading.finish_frames(truncation)
}

/// What is known of a capture while it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Glance {
    /// Of the newest packet, seconds after the first one.
    pub time_s: f64,
    /// Packets so far.
    pub packets: u64,
    /// Flows so far.
    pub flows: u64,
    /// Losses so far, as the places look now at which the flows were captured.
    pub lost: u64,
}

/// From one glance to the next.
const GLANCE: Span = Span::from_secs(1);

/// Who sees every packet that is analysed, and what is known then.
pub(crate) type Also<'a> = &'a mut dyn FnMut(Time, &Packet<'_>, &Reading<'_>);

/// Analyses a capture and shows every packet of it to `also`. Compiled once, for all sources.
pub(crate) fn analyze_and(
    source: &mut dyn Read,
    file: &str,
    options: &Options,
    also: Also<'_>,
) -> Result<Analysis, CaptureError> {
    analyze_by(source, options, &Rules::of(options, file), file, also)
}

/// As [`analyze_and`], and keeps the packets of a log.
pub(crate) fn analyze_keeping(
    source: &mut dyn Read,
    file: &str,
    options: &Options,
    also: Also<'_>,
) -> Result<Analysis, CaptureError> {
    analyze_by(
        source,
        options,
        &Rules { keeps_packets: true, ..Rules::of(options, file) },
        file,
        also,
    )
}

fn analyze_by(
    source: &mut dyn Read,
    options: &Options,
    rules: &Rules,
    file: &str,
    also: Also<'_>,
) -> Result<Analysis, CaptureError> {
    let mut reading = Reading::new(options, rules.clone(), file);
    let (is_qlog, source) = qlog::recognised(decompressed(Box::new(source))?)?;
    if is_qlog {
        let truncation = qlog::read(source, rules, &mut reading)?;
        return Ok(reading.finish(truncation));
    }
    let mut frames = Frames::of(source)?;
    reading.read(&mut frames, also);
    let truncation = frames.truncation().cloned();
    reading.finish_frames(truncation)
}

/// A flow that was not read from a capture, whose times count from `begun`.
pub(crate) fn described(
    options: &Options,
    rules: &Rules,
    begun: Time,
    result: FlowResult,
) -> Option<Flow> {
    let mut reading = Reading::new(options, rules.clone(), "");
    reading.begun = Some(begun);
    reading.keep(result);
    reading.finish(None).flows.pop()
}

impl Rules {
    pub(crate) fn of(options: &Options, file: &str) -> Self {
        let budget = options.over_time.then(Budget::default);
        let watch = Watch::new(file, options.observer.clone(), options.flows.clone());
        let chosen = options.chosen.clone();
        let keep_skew = options.keep_skew;
        let words = Words::default();
        Self { chosen, words, keep_skew, budget, watch, keeps_packets: false }
    }
}

/// An analysis under way.
pub(crate) struct Reading<'a> {
    pub(super) options: &'a Options,
    table: FlowTable,
    hosts: Names,
    pub(super) names: Vec<String>,
    pub(super) begun: Option<Time>,
    last: Time,
    /// The end of the longest trace before this one, if the file has several.
    longest: Time,
    unknown: Option<LinkType>,
    readable: u64,
    /// Packets that may be of a stream, and belong to none that has proved itself yet.
    unproven: BTreeMap<Protocol, u64>,
    /// Datagrams that are encrypted RTCP if there is RTP.
    maybe_rtcp: u64,
    has_rtp: bool,
    lossless: usize,
    lossy: usize,
    watch: Watch,
    /// Places of the flows that are kept over time.
    drawn: Vec<usize>,
    analysis: Analysis,
}

impl<'a> Reading<'a> {
    fn new(options: &'a Options, rules: Rules, file: &str) -> Self {
        let analysis = Analysis { file: file.to_owned(), ..Analysis::default() };
        Self {
            options,
            names: rules.chosen.keys().collect(),
            watch: rules.watch.clone(),
            table: FlowTable::new(rules),
            hosts: Names::default(),
            begun: None,
            last: Time::ZERO,
            longest: Time::ZERO,
            unknown: None,
            readable: 0,
            unproven: BTreeMap::new(),
            maybe_rtcp: 0,
            has_rtp: false,
            lossless: 0,
            lossy: 0,
            drawn: Vec::new(),
            analysis,
        }
    }

    /// Reads a file of frames to its end.
    fn read(&mut self, frames: &mut Frames<'_>, also: Also<'_>) {
        while let Some(frame) = frames.next_frame() {
            let frame_time = frame.time;
            if self.takes(frame_time, frame.link) {
                self.on_radio(frame.link.radio(frame.data));
                let parsed = Parsed::of(&frame);
                if let Parsed::Packet(packet) = &parsed {
                    self.hosts.on_packet(packet);
                    also(frame_time, packet, self);
                }
                self.on_frame(frame_time, &parsed);
            }
        }
        let dropped = self.analysis.dropped_by_capture.into_iter().chain(frames.dropped());
        self.analysis.dropped_by_capture = dropped.reduce(u64::saturating_add);
    }

    fn finish_frames(self, truncation: Option<Truncation>) -> Result<Analysis, CaptureError> {
        match self.only_unknown_link() {
            Some(link) => Err(CaptureError::LinkType { link }),
            None => Ok(self.finish(truncation)),
        }
    }

    fn glance(&self) -> Glance {
        let (open, lost) = self.table.glance();
        Glance {
            time_s: (self.last - self.begun.unwrap_or(self.last)).as_secs_f64(),
            packets: self.analysis.packets,
            flows: open + self.analysis.flows.len() as u64 + self.analysis.unlisted_flows,
            lost: lost + self.analysis.flows.iter().map(Flow::lost).sum::<u64>(),
        }
    }

    /// Counts a frame. False if it shall not be analysed.
    #[inline]
    fn takes(&mut self, time: Time, link: LinkType) -> bool {
        let inside = self.on_packet_time(time);
        if !link.is_known() {
            self.unknown = Some(link);
            self.on_unread(Unread::Link(link), 1);
            return false;
        }
        self.readable += 1;
        inside
    }

    /// Counts a packet. False if the options leave out its time.
    #[inline]
    pub(crate) fn on_packet_time(&mut self, time: Time) -> bool {
        self.analysis.packets += 1;
        if self.begun.is_none() {
            self.begun = Some(time);
            self.watch.begin(time);
        }
        if time < self.last {
            self.analysis.out_of_order_times += 1;
        }
        self.last = time;
        self.is_inside(time)
    }

    /// Something happened that is no packet. False if the options leave out its time.
    pub(crate) fn on_event_time(&mut self, time: Time) -> bool {
        self.last = self.last.max(time);
        self.is_inside(time)
    }

    /// Whether the options take in this time.
    #[inline]
    fn is_inside(&self, time: Time) -> bool {
        self.options.select(self.begun.unwrap_or(time), time)
    }

    /// Times count from zero again: another trace of the same file.
    pub(crate) fn begin_trace(&mut self) {
        self.longest = self.longest.max(self.last);
        (self.begun, self.last) = (Some(Time::ZERO), Time::ZERO);
        self.watch.begin(Time::ZERO);
    }

    /// Counts a packet that belongs to no flow.
    pub(crate) fn on_other_packet(&mut self) {
        self.analysis.other_packets += 1;
    }

    /// Packets so far.
    pub(crate) fn packets(&self) -> u64 {
        self.analysis.packets
    }

    /// Counts what a radio says of a frame.
    #[inline]
    fn on_radio(&mut self, radio: Option<Radio>) {
        if let Some(radio) = radio {
            let frames = self.analysis.radio.get_or_insert_default();
            frames.data_frames += 1;
            frames.retries += u64::from(radio.is_retry);
        }
    }

    #[inline]
    fn on_frame(&mut self, time: Time, parsed: &Parsed<'_>) {
        match parsed {
            Parsed::Packet(packet) => {
                let protocol =
                    if packet.is_dns() { None } else { self.table.on_packet(time, packet) };
                match &packet.transport {
                    Transport::Tcp(tcp) => {
                        self.analysis.tcp_packets += 1;
                        self.analysis.cut_options += u64::from(tcp.options.cut);
                    }
                    Transport::Udp { .. } | Transport::Esp { .. } => match protocol {
                        Some(protocol) => *self.unproven.entry(protocol).or_default() += 1,
                        None => self.on_datagram(packet),
                    },
                }
                if self.table.has_finished() {
                    self.collect();
                }
            }
            Parsed::Unread(unread) => self.on_unread(*unread, 1),
        }
    }

    /// Counts a datagram of no stream.
    #[cold]
    fn on_datagram(&mut self, packet: &Packet<'_>) {
        match (Unread::datagram(packet), &packet.transport) {
            (Unread::Udp, Transport::Udp { payload, payload_bytes })
                if rtcp::may_be_secured(payload, *payload_bytes) =>
            {
                self.maybe_rtcp += 1;
            }
            (kind, _) => self.on_unread(kind, 1),
        }
    }

    /// Counts packets that were not read.
    #[cold]
    fn on_unread(&mut self, unread: Unread, packets: u64) {
        self.analysis.unread.add(unread, packets);
        *match unread {
            Unread::Fragment => &mut self.analysis.fragments,
            _ => &mut self.analysis.other_packets,
        } += packets;
    }

    /// The link type of the frames, if none of them could be read.
    fn only_unknown_link(&self) -> Option<LinkType> {
        self.unknown.filter(|_| self.readable == 0)
    }

    #[cold]
    fn collect(&mut self) {
        let results: Vec<FlowResult> = self.table.take_finished().collect();
        results.into_iter().for_each(|result| self.keep(result));
    }

    /// Lists a flow that has ended.
    pub(crate) fn keep(&mut self, result: FlowResult) {
        if let Some(unproven) = self.unproven.get_mut(&result.protocol) {
            *unproven = unproven.saturating_sub(result.packets);
        }
        self.has_rtp |= result.protocol == Protocol::Rtp;
        if !self.options.flows.has([&result.src, &result.dst]) {
            return;
        }
        let is_lossy = result.losses.count(State::is_loss) > 0;
        let (listed, most) = if is_lossy {
            (&mut self.lossy, MAX_LOSSY_FLOWS)
        } else {
            (&mut self.lossless, MAX_LISTED_FLOWS)
        };
        if *listed == most {
            self.analysis.unlisted_flows += 1;
            return;
        }
        *listed += 1;
        let flow = self.describe(result);
        self.analysis.flows.push(flow);
        self.limit_drawn();
    }

    /// Keeps over time only the flows with most losses.
    fn limit_drawn(&mut self) {
        let flows = &mut self.analysis.flows;
        if flows.last().is_some_and(|flow| flow.over_time.is_some()) {
            self.drawn.push(flows.len() - 1);
        }
        if self.drawn.len() > MAX_DRAWN_FLOWS {
            let weight = |flow: &Flow| (flow.lost(), flow.packets, std::cmp::Reverse(flow.id));
            let least =
                (0..self.drawn.len()).min_by_key(|&place| weight(&flows[self.drawn[place]]));
            if let Some(place) = least {
                flows[self.drawn.swap_remove(place)].over_time = None;
            }
        }
    }

    /// Tells the flows what their ends are called.
    fn name_ends(&mut self) {
        if self.hosts.is_empty() {
            return;
        }
        for flow in &mut self.analysis.flows {
            if let (Ok(src), Ok(dst)) = (flow.src.parse(), flow.dst.parse()) {
                let names = self.hosts.of([src, dst]);
                [flow.src_name, flow.dst_name] = names.map(|name| name.map(str::to_owned));
            }
        }
    }

    fn finish(mut self, truncation: Option<Truncation>) -> Analysis {
        self.table.close_all();
        self.collect();
        for (protocol, packets) in std::mem::take(&mut self.unproven) {
            let unread = match protocol {
                Protocol::WireGuard => Unread::WireGuard,
                Protocol::Esp => Unread::Esp,
                _ => Unread::Udp,
            };
            self.on_unread(unread, packets);
        }
        let maybe_rtcp = if self.has_rtp { Unread::Rtcp } else { Unread::Udp };
        self.on_unread(maybe_rtcp, self.maybe_rtcp);
        self.analysis.begun = self.begun.unwrap_or(Time::ZERO);
        let last = self.last.max(self.longest);
        self.analysis.duration_s = (last - self.begun.unwrap_or(last)).as_secs_f64();
        if let Some(truncation) = truncation {
            self.analysis.truncated_at = Some(truncation.offset);
            self.analysis.truncation = Some(truncation.problem);
        }
        self.analysis.flows.sort_by_key(|flow| (std::cmp::Reverse(flow.losses.len()), flow.id));
        self.name_ends();
        minor::mark(&mut self.analysis.flows);
        let doubted = self.analysis.doubted();
        let captured = Captured {
            doubted: &doubted,
            is_cut: self.analysis.cut_options > 0,
            file: &self.analysis.file,
            duration_s: self.analysis.duration_s,
        };
        diagnose::diagnose(&mut self.analysis.flows, &captured);
        self.analysis
    }
}
