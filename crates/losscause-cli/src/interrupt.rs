//! Ctrl-C and SIGTERM: no temporary file is left behind, and the shell sees that a signal ended the
//! program.

#[cfg(unix)]
use std::sync::atomic::AtomicI32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Ends the program as a postponed signal would have, so that a shell sees it.
pub(crate) fn end_if_interrupted() {
    if INTERRUPTED.load(Ordering::Relaxed) {
        #[cfg(unix)]
        let _ = signal_hook::low_level::emulate_default_handler(SIGNAL.load(Ordering::Relaxed));
    }
}

/// Sets what is said on standard error if a signal ends the program from now on: `say(Some("…"))`.
pub(crate) fn say(hint: Option<String>) {
    *HINT.lock().unwrap_or_else(PoisonError::into_inner) = hint;
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
    use std::io::{self, Write};

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // Without a handler a signal ends the program too, and the next one cleans up.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
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
        if let Some(hint) = &*HINT.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(io::stderr(), "\nlosscause: stopped; {hint}");
        }
        let _ = emulate_default_handler(signal);
    });
}

/// On other systems the next program that writes to the same directory cleans up.
#[cfg(not(unix))]
pub(crate) fn watch() {}
