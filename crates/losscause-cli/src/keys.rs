//! Keys of the terminal while something goes on: `q` ends it.

#[cfg(unix)]
pub(crate) use of_terminal::Keys;

#[cfg(not(unix))]
pub(crate) use of_none::Keys;

#[cfg(unix)]
mod of_terminal {
    use std::io::{self, IsTerminal};
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::getpgrp;
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

    use crate::interrupt;

    /// How the terminal was before it gave keys at once.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    /// While it lives, the terminal of standard input gives each key at once and shows none. Ctrl-C
    /// works as ever.
    pub(crate) struct Keys(());

    impl Keys {
        /// None if standard input is no terminal, or one that another program has.
        pub(crate) fn listen() -> Option<Self> {
            if !io::stdin().is_terminal() || !is_ours() {
                return None;
            }
            let before = tcgetattr(io::stdin()).ok()?;
            let mut at_once = before.clone();
            at_once.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
            interrupt::at_end(restore);
            tcsetattr(io::stdin(), OptionalActions::Now, &at_once).ok()?;
            Some(Self(()))
        }

        /// Waits so long for a key, and returns whether `q` came. Others mean nothing.
        pub(crate) fn quits_within(&self, time: Duration) -> bool {
            Self::end(&self.pressed_within(time))
        }

        /// Whether one of these keys ends what goes on.
        pub(crate) fn end(keys: &[u8]) -> bool {
            keys.iter().any(|key| b"qQ".contains(key))
        }

        /// Waits so long for a key, and returns those that came.
        pub(crate) fn pressed_within(&self, time: Duration) -> Vec<u8> {
            let stdin = io::stdin();
            let wait =
                Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
            let mut source = [PollFd::new(&stdin, PollFlags::IN)];
            let any = poll(&mut source, Some(&wait)).is_ok_and(|ready| ready > 0);
            // A program in the background that reads its terminal is stopped.
            if !any || !is_ours() {
                std::thread::sleep(if any { time } else { Duration::ZERO });
                return Vec::new();
            }
            let mut keys = [0; 16];
            let read = rustix::io::read(&stdin, &mut keys).unwrap_or(0);
            if read == 0 {
                // The terminal is gone; a signal says so.
                std::thread::sleep(time);
            }
            keys[..read].to_vec()
        }
    }

    impl Drop for Keys {
        fn drop(&mut self) {
            restore();
        }
    }

    /// Whether the terminal of standard input is this program's: one in the background would be
    /// stopped.
    fn is_ours() -> bool {
        tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
    }

    /// Makes the terminal what it was.
    fn restore() {
        let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before.filter(|_| is_ours()) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

#[cfg(not(unix))]
mod of_none {
    use std::time::Duration;

    /// On other systems Ctrl-C alone ends a capture.
    pub(crate) struct Keys(std::convert::Infallible);

    impl Keys {
        pub(crate) fn listen() -> Option<Self> {
            None
        }

        pub(crate) fn quits_within(&self, _: Duration) -> bool {
            match self.0 {}
        }
    }
}
