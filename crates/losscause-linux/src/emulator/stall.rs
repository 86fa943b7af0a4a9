//! How long the hosts themselves stood still.
//!
//! Both hosts are namespaces of this machine, so a process in either waits for this machine's
//! scheduler. A stall of a few milliseconds makes a sender's packets come in one burst, which can
//! fill a short queue. The link delivers such a burst on time, so its own lateness does not show
//! the stall.
//!
//! A thread for each host, in the scheduling class that a host's processes have, sleeps for 1 ms
//! again and again. What a sleep takes beyond that is a stall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use losscause::{Span, Time};
use losscause_sim::Histogram;
use serde::Serialize;

use super::clock::Clock;
use super::error::Error;

/// Watches the hosts from [`StallWatch::start`] to [`StallWatch::stop`].
#[derive(Debug)]
pub struct StallWatch {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Stalls>>,
}

/// How long the hosts stood still during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostStall {
    /// The longest stall, milliseconds.
    pub greatest: f64,
    /// When the longest stall ended, seconds by the link's clock.
    pub greatest_at_s: f64,
    /// 99 % of the sleeps took at most this much too long, milliseconds.
    pub p99: f64,
    /// The stalls' share of the time, 0 to 1.
    pub share: f64,
}

/// The stalls of one host, or of both.
#[derive(Debug, Default)]
struct Stalls {
    all: Histogram,
    total: Span,
    slept: Span,
    greatest: Span,
    greatest_at: Time,
}

/// The stalls of the hosts are told apart from sleeps of this length.
const SLEEP: Span = Span::from_millis(1);
/// The sender, and the peer.
const HOSTS: usize = 2;

impl StallWatch {
    /// Starts to watch. Call it from a thread without a real-time priority, which the watching
    /// threads would inherit.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(clock: Clock) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut watch = Self { stop, threads: Vec::with_capacity(HOSTS) };
        for _ in 0..HOSTS {
            let stop = Arc::clone(&watch.stop);
            let thread = thread::Builder::new()
                .name("stalls".to_owned())
                .spawn(move || Stalls::until(&stop, clock));
            watch.threads.push(thread.map_err(Error::system("a thread cannot be started"))?);
        }
        Ok(watch)
    }

    /// Stops to watch and returns what was seen.
    ///
    /// # Errors
    /// A thread panicked.
    pub fn stop(mut self) -> Result<HostStall, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let mut both = Stalls::default();
        for thread in self.threads.drain(..) {
            both.merge(&thread.join().map_err(|_| Error::Thread)?);
        }
        Ok(both.summary())
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Stalls {
    /// Sleeps on the calling thread until `stop`.
    fn until(stop: &AtomicBool, clock: Clock) -> Self {
        // A timer may otherwise be 50 µs late, so that the processor can sleep longer.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut stalls = Self::default();
        while !stop.load(Ordering::Relaxed) {
            let begun = clock.now();
            thread::sleep(Duration::from_nanos(SLEEP.as_nanos().unsigned_abs()));
            stalls.add(begun, clock.now());
        }
        stalls
    }

    /// A sleep began and ended.
    fn add(&mut self, begun: Time, ended: Time) {
        let stall = (ended - begun - SLEEP).max(Span::ZERO);
        self.all.record(stall);
        self.total += stall;
        self.slept += ended - begun;
        if stall > self.greatest {
            self.greatest = stall;
            self.greatest_at = ended;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.total += other.total;
        self.slept += other.slept;
        if other.greatest > self.greatest {
            self.greatest = other.greatest;
            self.greatest_at = other.greatest_at;
        }
    }

    fn summary(&self) -> HostStall {
        let ms = |span: Span| span.as_nanos() as f64 / 1e6;
        HostStall {
            greatest: ms(self.greatest),
            greatest_at_s: (self.greatest_at - Time::ZERO).as_secs_f64(),
            p99: ms(self.all.quantile(0.99).unwrap_or(Span::ZERO)),
            share: if self.slept > Span::ZERO {
                self.total.as_secs_f64() / self.slept.as_secs_f64()
            } else {
                0.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeps from one instant to the next, microseconds.
    fn of(wakes: &[i64]) -> Stalls {
        let at = |us: &i64| Time::ZERO + Span::from_micros(*us);
        let mut stalls = Stalls::default();
        wakes.windows(2).for_each(|pair| stalls.add(at(&pair[0]), at(&pair[1])));
        stalls
    }

    #[test]
    fn a_stall_is_what_a_sleep_takes_beyond_a_millisecond() {
        // Sleeps of 1, 5 and 2 ms: stalls of 0, 4 and 1 ms in 8 ms.
        let stall = of(&[0, 1_000, 6_000, 8_000]).summary();
        assert_eq!((stall.greatest, stall.greatest_at_s), (4.0, 0.006));
        assert_eq!(stall.share, 5.0 / 8.0);
        assert!((4.0 - 4.0 / 128.0..=4.0).contains(&stall.p99), "{stall:?}");
    }

    #[test]
    fn the_greatest_stall_is_that_of_either_host() {
        let mut both = of(&[0, 1_000, 3_000]);
        both.merge(&of(&[0, 4_000]));
        both.merge(&of(&[0, 1_000]));
        let stall = both.summary();
        assert_eq!((stall.greatest, stall.greatest_at_s), (3.0, 0.004));
        assert_eq!((both.all.count(), stall.share), (4, 4.0 / 8.0));
    }

    #[test]
    fn a_watch_of_no_time_has_no_stall() {
        assert_eq!(Stalls::default().summary(), HostStall::default());
        let stall = StallWatch::start(Clock::start()).unwrap().stop().unwrap();
        assert!(stall.p99 <= stall.greatest && (0.0..1.0).contains(&stall.share), "{stall:?}");
    }
}
