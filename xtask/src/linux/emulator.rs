//! The link between two TUN devices: two [`Lane`]s with a real clock.
//!
//! A TUN without offloads hands over packets as they would be on a wire: the kernel has cut and checksummed them. One
//! thread serves both directions, with a real-time priority if this machine allows one. It is late by what the machine
//! takes to wake it up; how late is part of every result.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use losscause::{Span, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::{Deserialize, Serialize};
use tun_rs::SyncDevice;

use super::lane::{Fate, Lane};
use super::link_log::{Sent, data_of};
use crate::shell;

/// The link, ready to run.
pub(super) struct Emulator {
    /// The sender's end, and the receiver's.
    pub(super) ends: [SyncDevice; 2],
    /// From the sender, and from the receiver.
    pub(super) lanes: [Lane; 2],
}

/// What the link did.
pub(super) struct Report {
    pub(super) packets: Vec<Sent>,
    pub(super) lateness: Lateness,
}

/// How late packets were delivered, microseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Lateness {
    pub(super) p50_us: i64,
    pub(super) p99_us: i64,
    pub(super) worst_us: i64,
}

/// Packets on their way, by the time of their arrival and the order in which they came.
type Flying = BTreeMap<(Time, u64), Vec<u8>>;

/// The link looks at least so often whether to stop.
const LONGEST_SLEEP: Span = Span::from_millis(50);
const MAX_PACKET_BYTES: usize = 2_048;

/// Time since 1970, monotonic within a run.
struct Clock {
    begun: Instant,
    epoch: Time,
}

impl Clock {
    fn start() -> Result<Self> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
        Ok(Self { begun: Instant::now(), epoch: Time::from_nanos(i64::try_from(since_1970.as_nanos())?) })
    }

    fn now(&self) -> Time {
        self.epoch + Span::from_nanos(self.begun.elapsed().as_nanos() as i64)
    }
}

impl Emulator {
    /// Runs until `stop`; says when it is `ready`.
    pub(super) fn run(mut self, ready: &Sender<()>, stop: &AtomicBool) -> Result<Report> {
        take_real_time_priority();
        let clock = Clock::start()?;
        let mut flying: [Flying; 2] = Default::default();
        let (mut packets, mut late) = (Vec::new(), Vec::new());
        let mut count = 0;
        let mut buffer = [0; MAX_PACKET_BYTES];
        self.ends.iter().try_for_each(|end| end.set_nonblocking(true))?;
        ready.send(()).context("no host waits for the link")?;
        while !stop.load(Ordering::Relaxed) {
            for (direction, lane) in self.lanes.iter_mut().enumerate() {
                while let Some(bytes) = would_block(self.ends[direction].recv(&mut buffer))? {
                    let (now, packet) = (clock.now(), &buffer[..bytes]);
                    let fate = lane.on_packet(now, bytes);
                    if let Fate::Arrives(at) = fate {
                        count += 1;
                        flying[direction].insert((at, count), packet.to_vec());
                    }
                    if let (0, Some((port, seq, bytes))) = (direction, data_of(packet)) {
                        packets.push(Sent { at: now, port, seq, bytes, fate });
                    }
                }
            }
            for (direction, flying) in flying.iter_mut().enumerate() {
                while let Some(first) = flying.first_entry() {
                    let late_by = clock.now() - first.key().0;
                    if late_by < Span::ZERO {
                        break;
                    }
                    late.push(late_by.as_nanos() / 1_000);
                    // A packet that its host does not take (its device goes down at the end) is not the link's loss.
                    let _ = would_block(self.ends[1 - direction].send(&first.remove()))?;
                }
            }
            self.sleep(next(&flying).map_or(LONGEST_SLEEP, |at| at - clock.now()))?;
        }
        Ok(Report { packets, lateness: Lateness::of(late) })
    }

    /// Waits for a packet, or for `at_most`.
    fn sleep(&self, at_most: Span) -> Result<()> {
        let at_most = at_most.clamp(Span::ZERO, LONGEST_SLEEP).as_nanos();
        let mut ends = self.ends.each_ref().map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut ends, Some(TimeSpec::new(0, at_most)), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error).context("the link cannot wait for packets"),
        }
    }
}

fn next(flying: &[Flying; 2]) -> Option<Time> {
    flying.iter().filter_map(|flying| flying.first_key_value()).map(|((at, _), _)| *at).min()
}

fn would_block(outcome: std::io::Result<usize>) -> Result<Option<usize>> {
    match outcome {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error).context("a TUN device failed"),
    }
}

/// Without it the link works as well, only later.
fn take_real_time_priority() {
    let thread = nix::unistd::gettid().to_string();
    let _ = shell::output(shell::command("chrt").args(["--fifo", "--pid", "50", &thread]));
}

impl Lateness {
    fn of(mut late_us: Vec<i64>) -> Self {
        late_us.sort_unstable();
        let at = |share: f64| late_us.get((late_us.len() as f64 * share) as usize).copied().unwrap_or(0);
        Self { p50_us: at(0.5), p99_us: at(0.99), worst_us: late_us.last().copied().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_told_by_its_median_and_its_tail() {
        let lateness = Lateness::of((0..1_000).rev().collect());
        assert_eq!((lateness.p50_us, lateness.p99_us, lateness.worst_us), (500, 990, 999));
        assert_eq!(Lateness::of(Vec::new()).worst_us, 0);
    }
}
