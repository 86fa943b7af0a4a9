//! What the program's servers share: connections that are accepted for ever, and end in time.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// After a connection that could not be accepted, such as where no file can be opened, the next one
/// is not tried at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers one connection after another on the calling thread. Of several threads only one waits
/// for a connection: Linux sets a file descriptor aside for each that does.
pub(crate) fn for_ever(
    listener: &Mutex<TcpListener>,
    answer: impl Fn(&TcpStream) -> io::Result<()>,
) {
    loop {
        let accepted = listener.lock().unwrap_or_else(PoisonError::into_inner).accept();
        match accepted {
            // A client that goes away is no error of the program.
            Ok((stream, _)) => _ = answer(&stream),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// A connection that ends at a deadline.
#[derive(Clone, Copy)]
pub(crate) struct Timed<'a> {
    pub(crate) stream: &'a TcpStream,
    pub(crate) deadline: Instant,
}

impl Timed<'_> {
    /// The time that is left; it is not zero.
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
