//! Two hosts, and the emulator's link between them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use losscause::{Span, Time};
use losscause_linux::emulator::{
    Clock, EmulatedLink, Host, PEER, Path, SENDER, Sight, device_drops,
};
use losscause_sim::{FlowId, Histogram, Network};

use super::LiveError;

/// A run counts if 99 % of the packets were late by no more: a twentieth of the shortest round
/// trip.
const LATEST: Span = Span::from_millis(2);

/// How often threads look whether the run is over.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// The ends of the link, and its time.
pub(super) struct Hosts {
    pub(super) sender: Host,
    pub(super) peer: Host,
    pub(super) clock: Clock,
}

/// Does `work` while the link between hosts with these settings carries packets, which `take` sees. Returns also how many packets the
/// TUN devices dropped by themselves.
///
/// # Errors
/// A host, the link or the work fails.
pub(super) fn over_link<R>(
    network: &Network,
    seed: u64,
    settings: &[(&'static str, String)],
    mut take: impl FnMut(&Sight<'_>, Clock) + Send,
    work: impl FnOnce(&Hosts) -> Result<R, LiveError>,
) -> Result<(R, u64), LiveError> {
    let path = Path::new(network, FlowId(0), seed)?;
    let (sender, senders) = Host::new(SENDER, settings)?;
    let (peer, peers) = Host::new(PEER, settings)?;
    let clock = Clock::start();
    let link = EmulatedLink::new(&path, [senders, peers], clock)?;
    let hosts = Hosts { sender, peer, clock };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let link = scope.spawn(|| link.run(&over, |sight| take(&sight, clock)));
        let worked = work(&hosts);
        // The devices end with the link.
        let drops = [hosts.sender.run(device_drops), hosts.peer.run(device_drops)];
        over.store(true, Ordering::Relaxed);
        link.join().map_err(|_| LiveError::Thread)??;
        let worked = worked?;
        let [at_sender, at_peer] = drops;
        Ok((worked, at_sender?? + at_peer??))
    })
}

/// What was counted when a window began and when it ended.
pub(super) struct Window<T> {
    pub(super) before: T,
    pub(super) after: T,
    pub(super) seconds: f64,
    /// Whether the window's end was not waited for.
    pub(super) is_cut: bool,
}

/// Waits for the window, or until `is_over`.
pub(super) fn window<T>(
    (from, to): (Time, Time),
    clock: Clock,
    count: impl Fn() -> T,
    is_over: impl Fn() -> bool,
) -> Window<T> {
    let begun = clock.now();
    let at = |time: Time| begun + (time - Time::ZERO);
    sleep_until(at(from), clock, &is_over);
    let before = count();
    let since = clock.now();
    sleep_until(at(to), clock, &is_over);
    let after = count();
    let now = clock.now();
    let seconds = (now - since).max(Span::from_nanos(1)).as_secs_f64();
    Window { before, after, seconds, is_cut: now < at(to) }
}

/// Sleeps until `at`, or until `is_over`.
pub(super) fn sleep_until(at: Time, clock: Clock, is_over: impl Fn() -> bool) {
    loop {
        let left = u64::try_from((at - clock.now()).as_nanos()).unwrap_or(0);
        if left == 0 || is_over() {
            return;
        }
        thread::sleep(Duration::from_nanos(left).min(PAUSE));
    }
}

/// Why a run does not count, in which the devices dropped so many packets by themselves and the
/// link was so late.
pub(super) fn disturbance(device_drops: u64, late: &Histogram) -> Option<String> {
    if device_drops > 0 {
        return Some(format!("a TUN device dropped {device_drops} packets by itself"));
    }
    let late = late.quantile(0.99).filter(|late| *late > LATEST)?;
    Some(format!(
        "the emulator was late by up to {:.1} ms in 99 % of the packets, expected at most {:.0} ms",
        late.as_millis_f64(),
        LATEST.as_millis_f64()
    ))
}
