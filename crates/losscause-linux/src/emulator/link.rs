//! The link between two TUN devices: the simulator's links with a real clock.
//!
//! One thread serves both directions, with a real-time priority if this machine allows one. A
//! packet gets its instants from the simulator's links, exact to the nanosecond, from the instant
//! at which it was read. It is then delivered late by what the machine takes to wake the thread up,
//! and [`Sight::Delivered`] tells how late.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use losscause::{Span, Time};
use losscause_sim::LinkId;
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered, Passed};
use losscause_sim::truth::Cause;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use tun_rs::SyncDevice;

use super::clock::Clock;
use super::error::Error;
use super::packet::{Header, ecn_of, is_ip, mark};
use super::path::Path;
use super::priority::take_real_time_priority;

/// The link, ready to run.
pub struct EmulatedLink {
    /// The sender's device, and the peer's.
    ends: [SyncDevice; 2],
    path: LivePath<Vec<u8>>,
    clock: Clock,
    report: LinkReport,
}

/// What [`EmulatedLink::run`] has to tell beside its sights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkReport {
    /// Whether the link's thread had a real-time priority.
    pub real_time: bool,
    /// Frames from the sender, and from the peer, that are neither IPv4 nor IPv6. A device takes no
    /// such frame, so the link drops them at once. It has no [`Sight`] of them.
    pub not_ip: [u64; 2],
}

/// What the link saw or did. Times are those of its clock.
#[derive(Clone, Copy, Debug)]
pub enum Sight<'a> {
    /// The link read a packet.
    Came {
        /// When.
        at: Time,
        /// From which end to which.
        direction: Direction,
        /// The packet.
        packet: &'a [u8],
    },
    /// The link delivered a packet.
    Delivered {
        /// When the packet came.
        came: Time,
        /// When it arrived, by the path.
        due: Time,
        /// When it was written to the device.
        written: Time,
        /// How long it waited in queues.
        queued: Span,
        /// Whether a queue marked it.
        marked: bool,
        /// Whether it is a copy that a link made, and the packet or another copy arrived before.
        is_copy: bool,
        /// From which end to which.
        direction: Direction,
        /// The packet as it was written.
        packet: &'a [u8],
    },
    /// The link lost a packet.
    Lost {
        /// When the packet came.
        came: Time,
        /// When it was lost.
        at: Time,
        /// The true cause.
        cause: Cause,
        /// Where.
        link: LinkId,
        /// Packets that waited there right after.
        queue_packets: u32,
        /// From which end to which.
        direction: Direction,
        /// The packet.
        packet: &'a [u8],
    },
}

/// A packet at the end of the path.
#[derive(Debug)]
struct Departing {
    came: Time,
    due: Time,
    queued: Span,
    marked: bool,
    is_copy: bool,
    direction: Direction,
    packet: Vec<u8>,
}

/// The link looks at least so often whether to stop.
const LONGEST_SLEEP: Span = Span::from_millis(20);
/// Packets that are read from a device before others are delivered.
const BATCH: usize = 32;
/// More than the device's MTU.
const LARGEST_PACKET_BYTES: usize = 2_048;

impl EmulatedLink {
    /// A link between the devices of the sender and the peer. The path's time zero is that of
    /// `clock`.
    ///
    /// # Errors
    /// The path is not valid.
    pub fn new(path: &Path, ends: [SyncDevice; 2], clock: Clock) -> Result<Self, Error> {
        Ok(Self { ends, path: path.live()?, clock, report: LinkReport::default() })
    }

    /// Runs on the calling thread until `stop`. `observe` is told everything in the order in which
    /// it happens here; it must not wait.
    ///
    /// # Errors
    /// A device fails.
    pub fn run(
        mut self,
        stop: &AtomicBool,
        mut observe: impl FnMut(Sight),
    ) -> Result<LinkReport, Error> {
        self.report.real_time = take_real_time_priority();
        let mut buffer = [0; LARGEST_PACKET_BYTES];
        while !stop.load(Ordering::Relaxed) {
            let mut more = false;
            for direction in [Direction::Forward, Direction::Back] {
                more |= self.read(direction, &mut buffer, &mut observe)?;
            }
            self.deliver(&mut observe)?;
            if !more {
                self.sleep()?;
            }
        }
        Ok(self.report)
    }

    /// Reads a batch of packets from the end that sends in this direction. Returns whether there
    /// may be more.
    fn read(
        &mut self,
        direction: Direction,
        buffer: &mut [u8],
        observe: &mut impl FnMut(Sight),
    ) -> Result<bool, Error> {
        for _ in 0..BATCH {
            let read = self.ends[place(direction)].recv(buffer);
            let Some(bytes) = unless_blocked(read, "the TUN device cannot be read")? else {
                return Ok(false);
            };
            let at = self.clock.now();
            let packet = &buffer[..bytes];
            if !is_ip(packet) {
                self.report.not_ip[place(direction)] += 1;
                continue;
            }
            observe(Sight::Came { at, direction, packet });
            let offered = Offered {
                content: packet.to_vec(),
                wire_bytes: bytes as u32,
                flow: Header::of(packet).map_or(0, |header| header.flow()),
                ecn: ecn_of(packet),
                wireless_immune: false,
            };
            self.path.enter(at, direction, offered);
        }
        Ok(true)
    }

    /// Delivers what has arrived, and tells what is lost.
    fn deliver(&mut self, observe: &mut impl FnMut(Sight)) -> Result<(), Error> {
        let now = self.clock.now();
        while let Some(passed) = self.path.poll(now) {
            let Passed { content: packet, direction, entered: came, at, fate, is_copy } = passed;
            match fate {
                // The packet itself is not lost.
                Fate::Lost { .. } if is_copy => {}
                Fate::Lost { cause, link, queue_packets } => {
                    observe(Sight::Lost {
                        came,
                        at,
                        cause,
                        link,
                        queue_packets,
                        direction,
                        packet: &packet,
                    });
                }
                Fate::Delivered { ecn, queued } => {
                    let marked = ecn == Ecn::Marked && ecn_of(&packet) != Ecn::Marked;
                    let due = at;
                    let departing =
                        Departing { came, due, queued, marked, is_copy, direction, packet };
                    self.write(departing, observe)?;
                }
            }
        }
        Ok(())
    }

    fn write(&self, departing: Departing, observe: &mut impl FnMut(Sight)) -> Result<(), Error> {
        let Departing { came, due, queued, marked, is_copy, direction, mut packet } = departing;
        if marked {
            mark(&mut packet);
        }
        let written = self.clock.now();
        let sent = self.ends[1 - place(direction)].send(&packet);
        unless_blocked(sent, "the TUN device cannot be written")?;
        observe(Sight::Delivered {
            came,
            due,
            written,
            queued,
            marked,
            is_copy,
            direction,
            packet: &packet,
        });
        Ok(())
    }

    /// Waits for a packet, or for the next delivery.
    fn sleep(&self) -> Result<(), Error> {
        let at_most = self.path.next_event().map_or(LONGEST_SLEEP, |at| at - self.clock.now());
        let at_most = at_most.clamp(Span::ZERO, LONGEST_SLEEP).as_nanos();
        let mut ends = self.ends.each_ref().map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut ends, Some(TimeSpec::new(0, at_most)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(Error::system("the link cannot wait for packets")(error)),
        }
    }
}

/// The end that sends in this direction.
fn place(direction: Direction) -> usize {
    match direction {
        Direction::Forward => 0,
        Direction::Back => 1,
    }
}

fn unless_blocked(outcome: io::Result<usize>, what: &str) -> Result<Option<usize>, Error> {
    match outcome {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(Error::system(what)(error)),
    }
}
