//! Ctrl-C, SIGTERM and SIGHUP: no temporary file is left behind, and the shell sees that a signal
//! ended the program.

#[cfg(unix)]
use std::sync::atomic::AtomicI32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use losscause_study::Stop;

use crate::notice;

/// What the user should know if a signal ends the program now.
static HINT: Mutex<Option<String>> = Mutex::new(None);

/// What is done before a signal ends the program.
#[cfg(unix)]
static AT_END: Mutex<Option<fn()>> = Mutex::new(None);

/// Whether the next signal only sets [`INTERRUPTED`].
static POSTPONED: AtomicBool = AtomicBool::new(false);
/// The signal that was postponed.
#[cfg(unix)]
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Whether a signal came that was postponed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first signal sets the flag that is returned, and only the second ends the
/// program. Call [`end_if_interrupted`] once what is under way has come to its end.
pub(crate) fn postpone() -> &'static AtomicBool {
    POSTPONED.store(true, Ordering::Relaxed);
    &INTERRUPTED
}

/// Does the work. While it lasts, the first signal only requests the stop, as after [`postpone`].
pub(crate) fn stopping<T>(stop: &Stop, work: impl FnOnce() -> T) -> T {
    let interrupted = postpone();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let wait = || {
            while !over.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    stop.request();
                }
                thread::sleep(Duration::from_millis(20));
            }
        };
        // Where no thread can be made, only the second signal does something.
        let _ = thread::Builder::new().spawn_scoped(scope, wait);
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Ends the program as a postponed signal would have, so that a shell sees it.
pub(crate) fn end_if_interrupted() {
    if INTERRUPTED.load(Ordering::Relaxed) {
        tell();
        #[cfg(unix)]
        let _ = signal_hook::low_level::emulate_default_handler(SIGNAL.load(Ordering::Relaxed));
    }
}

/// Sets what is said on standard error if a signal ends the program from now on: `say(Some("…"))`.
pub(crate) fn say(hint: Option<String>) {
    *HINT.lock().unwrap_or_else(PoisonError::into_inner) = hint;
}

/// Says it.
fn tell() {
    if let Some(hint) = &*HINT.lock().unwrap_or_else(PoisonError::into_inner) {
        notice::told(&format!("\nlosscause: stopped; {hint}"));
    }
}

/// Sets what is done before a signal ends the program.
#[cfg(unix)]
pub(crate) fn at_end(what: fn()) {
    *AT_END.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
}

/// Handles signals from now on, on a thread of its own. A program that was killed cannot clean up;
/// the next one that writes to the same directory does.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // A file that grows beyond the limit of its process is a write that fails, and not the end.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    // Without a handler a signal ends the program too, and the next one cleans up.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    // A program that was started with `nohup` goes on when its terminal closes.
    if !is_ignored(SIGHUP) {
        let _ = signals.add_signal(SIGHUP);
    }
    // Where no thread can be started, a run cannot either.
    let handler = thread::Builder::new().name("signals".to_owned());
    let _ = handler.spawn(move || {
        let mut arriving = signals.forever();
        let Some(mut signal) = arriving.next() else { return };
        if POSTPONED.load(Ordering::Relaxed) {
            SIGNAL.store(signal, Ordering::Relaxed);
            INTERRUPTED.store(true, Ordering::Relaxed);
            let Some(second) = arriving.next() else { return };
            signal = second;
        }
        losscause_study::tools::atomic::remove_unfinished();
        if let Some(what) = *AT_END.lock().unwrap_or_else(PoisonError::into_inner) {
            what();
        }
        tell();
        let _ = emulate_default_handler(signal);
    });
}

/// Whether this signal is ignored since the program's start, as `nohup` arranges it for SIGHUP. A
/// system that does not tell is taken to ignore it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored(&status).is_none_or(|signals| signals >> (signal - 1) & 1 == 1)
}

/// The ignored signals in `/proc/self/status` (proc(5)): bit n - 1 is that of signal n.
#[cfg(unix)]
fn ignored(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// On other systems the next program that writes to the same directory cleans up.
#[cfg(not(unix))]
pub(crate) fn watch() {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_ignored_signals_are_read_from_the_status_of_a_process() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"), Some(0x1001));
        assert_eq!(ignored("Name:\tx\n"), None);
    }
}
