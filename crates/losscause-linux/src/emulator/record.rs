//! Everything that the link sees, counted and written: the summary, the log of drops, a capture at
//! each end.
//!
//! The link's thread must not wait for a disk. It copies the first bytes of each packet and passes
//! them on in batches, and a thread of its own does the rest.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use losscause::{Span, Time};
use losscause_capture::write::PcapWriter;
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use losscause_sim::{Histogram, LinkId};

use super::clock::Clock;
use super::error::Error;
use super::goodput::Goodput;
use super::link::{LinkReport, Sight};
use super::packet::Header;
use super::stall::HostStall;
use super::summary::{DeviceDrops, DirectionSummary, Summary, name};

/// Most bytes of a packet in a capture.
pub const SNAP_BYTES: usize = 128;

/// Where captures and the log go; each of them is optional.
#[derive(Default)]
pub struct Outputs {
    /// The log of drops, as CSV.
    pub log: Option<Box<dyn Write + Send>>,
    /// A capture (pcap) of what the sender's device sends and receives.
    pub sender: Option<Box<dyn Write + Send>>,
    /// The same at the peer's.
    pub peer: Option<Box<dyn Write + Send>>,
}

/// The columns of the log.
pub const LOG_COLUMNS: &str =
    "time_s,direction,link,cause,queue_pkts,src,dst,protocol,seq,bytes,ip_id,wire_bytes";

/// A sight that outlives its packet.
#[derive(Clone, Copy)]
struct Seen {
    what: What,
    direction: Direction,
    bytes: u32,
    head: [u8; SNAP_BYTES],
}

#[derive(Clone, Copy)]
enum What {
    Came { at: Time },
    Delivered { due: Time, written: Time, queued: Span, marked: bool, is_copy: bool },
    Lost { at: Time, cause: Cause, link: LinkId, queue_packets: u32 },
}

/// Sights are passed on in batches of this many, or when the oldest is this old.
const BATCH: usize = 256;
const OLDEST: Span = Span::from_millis(50);

/// The link's side: collects sights.
pub(super) struct Collector {
    batch: Vec<Seen>,
    since: Time,
    recorder: Sender<Vec<Seen>>,
}

/// The other side: counts and writes.
pub(super) struct Recorder {
    thread: JoinHandle<Result<Counts, Error>>,
}

/// What was counted.
struct Counts {
    directions: [DirectionCounts; 2],
    lateness: Histogram,
    first: Option<Time>,
    last: Time,
}

#[derive(Default)]
struct DirectionCounts {
    packets: u64,
    delivered: u64,
    queue_drops: u64,
    wireless_losses: u64,
    marked: u64,
    /// Copies that arrived after their packet.
    copies: u64,
    queueing_delay: Histogram,
    goodput: Goodput,
}

impl Seen {
    fn of(sight: &Sight) -> Self {
        let (what, direction, packet) = match *sight {
            Sight::Came { at, direction, packet } => (What::Came { at }, direction, packet),
            Sight::Delivered {
                due, written, queued, marked, is_copy, direction, packet, ..
            } => (What::Delivered { due, written, queued, marked, is_copy }, direction, packet),
            Sight::Lost { at, cause, link, queue_packets, direction, packet, .. } => {
                (What::Lost { at, cause, link, queue_packets }, direction, packet)
            }
        };
        let mut head = [0; SNAP_BYTES];
        let kept = packet.len().min(SNAP_BYTES);
        head[..kept].copy_from_slice(&packet[..kept]);
        Self { what, direction, bytes: packet.len() as u32, head }
    }

    fn head(&self) -> &[u8] {
        &self.head[..SNAP_BYTES.min(self.bytes as usize)]
    }
}

impl Collector {
    /// Takes a sight.
    pub(super) fn take(&mut self, sight: &Sight) {
        let (Sight::Came { at: now, .. }
        | Sight::Delivered { written: now, .. }
        | Sight::Lost { at: now, .. }) = *sight;
        if self.batch.is_empty() {
            self.since = now;
        }
        self.batch.push(Seen::of(sight));
        if self.batch.len() >= BATCH || now - self.since > OLDEST {
            self.pass_on();
        }
    }

    fn pass_on(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // A recorder that has failed tells so itself.
        let _ = self.recorder.send(batch);
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.pass_on();
    }
}

impl Recorder {
    /// Starts a recorder. `links` are the names of the path's links.
    pub(super) fn start(
        outputs: Outputs,
        clock: Clock,
        links: Vec<String>,
    ) -> Result<(Collector, Self), Error> {
        let (recorder, batches) = channel();
        let mut files = Files::new(outputs, clock, links)?;
        let thread = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || record(&batches, &mut files));
        let thread = thread.map_err(Error::system("a thread cannot be started"))?;
        Ok((
            Collector { batch: Vec::with_capacity(BATCH), since: Time::ZERO, recorder },
            Self { thread },
        ))
    }

    /// Waits until everything is written, after the collector is gone.
    pub(super) fn finish(
        self,
        (exit_status, peer_exit_status): (u8, Option<u8>),
        link: LinkReport,
        host_stall_ms: HostStall,
        device_drops: DeviceDrops,
    ) -> Result<Summary, Error> {
        let counts = self.thread.join().map_err(|_| Error::Thread)??;
        let seconds =
            counts.first.map_or(0.0, |first| (counts.last - first).max(Span::ZERO).as_secs_f64());
        let [forward, back] = counts.directions;
        let [not_ip_forward, not_ip_back] = link.not_ip;
        Ok(Summary {
            seconds,
            exit_status,
            peer_exit_status,
            forward: forward.summary(seconds, not_ip_forward),
            back: back.summary(seconds, not_ip_back),
            lateness: (&counts.lateness).into(),
            host_stall_ms,
            real_time: link.real_time,
            device_drops,
        })
    }
}

fn record(batches: &Receiver<Vec<Seen>>, files: &mut Files) -> Result<Counts, Error> {
    let mut counts = Counts {
        directions: Default::default(),
        lateness: Histogram::default(),
        first: None,
        last: Time::ZERO,
    };
    for seen in batches.iter().flatten() {
        counts.count(&seen);
        files.write(&seen)?;
    }
    files.flush()?;
    Ok(counts)
}

impl Counts {
    fn count(&mut self, seen: &Seen) {
        let direction = &mut self.directions[usize::from(seen.direction == Direction::Back)];
        match seen.what {
            What::Came { at } => {
                direction.packets += 1;
                self.first.get_or_insert(at);
            }
            What::Delivered { due, written, is_copy: true, .. } => {
                direction.copies += 1;
                self.lateness.record(written - due);
                self.last = self.last.max(due);
            }
            What::Delivered { due, written, queued, marked, .. } => {
                direction.delivered += 1;
                direction.marked += u64::from(marked);
                direction.queueing_delay.record(queued);
                if let Some(header) = Header::of(seen.head()) {
                    direction.goodput.add(&header);
                }
                self.lateness.record(written - due);
                self.last = self.last.max(due);
            }
            What::Lost { cause: Cause::Congestion, .. } => direction.queue_drops += 1,
            What::Lost { cause: Cause::Wireless, .. } => direction.wireless_losses += 1,
        }
    }
}

impl DirectionCounts {
    fn summary(&self, seconds: f64, not_ip: u64) -> DirectionSummary {
        let Self { packets, delivered, queue_drops, wireless_losses, marked, copies, .. } = *self;
        DirectionSummary {
            packets,
            delivered,
            queue_drops,
            wireless_losses,
            not_ip,
            in_flight: packets - delivered - queue_drops - wireless_losses,
            marked,
            copies,
            goodput_bps: if seconds > 0.0 {
                self.goodput.bytes() as f64 * 8.0 / seconds
            } else {
                0.0
            },
            queueing_delay: (&self.queueing_delay).into(),
        }
    }
}

/// The files that are being written.
struct Files {
    clock: Clock,
    links: Vec<String>,
    log: Option<Box<dyn Write + Send>>,
    /// At the sender's end, and at the peer's.
    captures: [Option<PcapWriter<Box<dyn Write + Send>>>; 2],
}

/// What the errors call them.
const LOG: &str = "the log of drops";
const CAPTURE: &str = "a capture";

fn unwritable(file: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |reason| Error::Unwritable { file, reason }
}

impl Files {
    fn new(outputs: Outputs, clock: Clock, links: Vec<String>) -> Result<Self, Error> {
        let Outputs { mut log, sender, peer } = outputs;
        if let Some(log) = &mut log {
            writeln!(log, "{LOG_COLUMNS}").map_err(unwritable(LOG))?;
        }
        let capture = |file: Option<Box<dyn Write + Send>>| {
            file.map(|file| PcapWriter::new(file, SNAP_BYTES as u32))
                .transpose()
                .map_err(unwritable(CAPTURE))
        };
        Ok(Self { clock, links, log, captures: [capture(sender)?, capture(peer)?] })
    }

    fn write(&mut self, seen: &Seen) -> Result<(), Error> {
        let sends = usize::from(seen.direction == Direction::Back);
        match seen.what {
            What::Came { at } => self.capture(sends, at, seen),
            What::Delivered { written, .. } => self.capture(1 - sends, written, seen),
            What::Lost { at, cause, link, queue_packets } => {
                self.log(seen, at, cause, link, queue_packets)
            }
        }
    }

    fn capture(&mut self, end: usize, at: Time, seen: &Seen) -> Result<(), Error> {
        let Some(capture) = &mut self.captures[end] else { return Ok(()) };
        capture
            .write_bytes(self.clock.since_1970(at), seen.head(), seen.bytes)
            .map_err(unwritable(CAPTURE))
    }

    fn log(
        &mut self,
        seen: &Seen,
        at: Time,
        cause: Cause,
        link: LinkId,
        queue_packets: u32,
    ) -> Result<(), Error> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let nanos = self.clock.since_1970(at).as_nanos();
        let seconds = nanos / 1_000_000_000;
        let nanos = nanos % 1_000_000_000;
        let direction = name(seen.direction);
        let link = &self.links[link.0 as usize];
        let cause = match cause {
            Cause::Congestion => "congestion",
            Cause::Wireless => "wireless",
        };
        let packet = match Header::of(seen.head()) {
            None => ",,,,,".to_owned(),
            Some(header) => format!(
                "{},{},{},{},{},{}",
                header.end(header.source),
                header.end(header.destination),
                header.protocol_name(),
                header.seq.map(|seq| seq.to_string()).unwrap_or_default(),
                header.payload_bytes,
                header.ip_id,
            ),
        };
        let bytes = seen.bytes;
        writeln!(
            log,
            "{seconds}.{nanos:09},{direction},{link},{cause},{queue_packets},{packet},{bytes}"
        )
        .map_err(unwritable(LOG))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.log.iter_mut().try_for_each(Write::flush).map_err(unwritable(LOG))?;
        let captures = self.captures.iter_mut().flatten();
        captures.map(PcapWriter::get_mut).try_for_each(Write::flush).map_err(unwritable(CAPTURE))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A file in memory that two share.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Shared {
        fn boxed(&self) -> Option<Box<dyn Write + Send>> {
            Some(Box::new(self.clone()))
        }

        fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap().clone()
        }
    }

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 1000 bytes of payload, the 100 bytes from `seq` on apart.
    fn packet(seq: u32) -> Vec<u8> {
        let mut packet = vec![
            0x45, 0, 4, 16, 0, 9, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2, 0x13, 0x89, 0,
            80,
        ];
        packet.extend(seq.to_be_bytes());
        packet.extend([0, 0, 0, 0, 0x50, 0x10]);
        packet.resize(1040, 0);
        packet
    }

    #[test]
    fn sights_become_counts_a_log_and_captures_at_both_ends() {
        let log = Shared::default();
        let sender = Shared::default();
        let peer = Shared::default();
        let outputs = Outputs { log: log.boxed(), sender: sender.boxed(), peer: peer.boxed() };
        let clock = Clock::start();
        let (mut collector, recorder) =
            Recorder::start(outputs, clock, vec!["air".to_owned()]).unwrap();
        let direction = Direction::Forward;
        let packets = [packet(0), packet(1000), packet(2000), packet(1000)];
        for (place, packet) in packets.iter().enumerate() {
            collector.take(&Sight::Came { at: at(place as i64), direction, packet });
        }
        for (cause, packet) in [(Cause::Wireless, &packets[1]), (Cause::Congestion, &packets[2])] {
            let link = LinkId(0);
            let came = at(1);
            collector.take(&Sight::Lost {
                came,
                at: at(21),
                cause,
                link,
                queue_packets: 3,
                direction,
                packet,
            });
        }
        let queued = Span::from_millis(2);
        let marked = true;
        let due = at(80);
        let written = due + Span::from_micros(10);
        for is_copy in [false, true] {
            collector.take(&Sight::Delivered {
                came: at(0),
                due,
                written,
                queued,
                marked,
                is_copy,
                direction,
                packet: &packets[0],
            });
        }
        drop(collector);
        let link = LinkReport { real_time: true, not_ip: [2, 0] };
        let stall = HostStall { greatest: 3.0, ..HostStall::default() };
        let summary = recorder.finish((3, None), link, stall, DeviceDrops::default()).unwrap();
        let forward = &summary.forward;
        assert_eq!(
            (forward.packets, forward.delivered, forward.in_flight, forward.marked),
            (4, 1, 1, 1)
        );
        assert_eq!(forward.copies, 1, "a copy is not delivered again");
        assert_eq!((forward.queue_drops, forward.wireless_losses), (1, 1));
        // 1000 bytes in 80 ms.
        assert_eq!(
            (summary.seconds, forward.goodput_bps, summary.exit_status),
            (0.08, 100_000.0, 3)
        );
        assert_eq!(
            (forward.queueing_delay.p50_ms, summary.lateness.worst_ms),
            (Some(2.0), Some(0.01))
        );
        assert_eq!((summary.back.packets, summary.back.queueing_delay.p50_ms), (0, None));
        let log = String::from_utf8(log.bytes()).unwrap();
        let rows: Vec<&str> = log.lines().map(|line| line.split_once(',').unwrap().1).collect();
        assert_eq!(
            rows,
            [
                LOG_COLUMNS.split_once(',').unwrap().1,
                "forward,air,wireless,3,10.77.0.1:5001,10.77.0.2:80,tcp,1000,1000,9,1040",
                "forward,air,congestion,3,10.77.0.1:5001,10.77.0.2:80,tcp,2000,1000,9,1040",
            ]
        );
        // A header of 24 bytes, and per packet 16 and the snap; the copy is a packet too.
        assert_eq!(
            [sender, peer].map(|file| file.bytes().len()),
            [24 + 4 * (16 + 128), 24 + 2 * (16 + 128)]
        );
    }

    #[test]
    fn a_log_that_cannot_be_written_fails_the_run() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let outputs = Outputs { log: Some(Box::new(Full)), ..Outputs::default() };
        let error = Recorder::start(outputs, Clock::start(), Vec::new()).err().unwrap();
        assert!(error.to_string().starts_with("the log of drops: cannot be written"), "{error}");
    }
}
