//! What the program's servers share: connections that are accepted for ever, and end in time.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// After a connection that could not be accepted, such as where no file can be opened, the next one
/// is not tried at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Requests that are answered at a time. More wait in the system's queue. A browser opens some
/// connections ahead, on which it asks for nothing yet.
const THREADS: usize = 32;

/// Answers connections, on the calling thread too. Of the threads only one waits for a connection:
/// Linux sets a file descriptor aside for each that does.
pub(crate) fn for_ever(
    listener: TcpListener,
    answer: impl Fn(&TcpStream) -> io::Result<()> + Sync,
) {
    let listener = Mutex::new(listener);
    let serve = || loop {
        let accepted = listener.lock().unwrap_or_else(PoisonError::into_inner).accept();
        match accepted {
            // A client that goes away is no error of the program.
            Ok((stream, _)) => _ = answer(&stream),
            Err(_) => thread::sleep(PAUSE),
        }
    };
    thread::scope(|scope| {
        for _ in 1..THREADS {
            // Where no more threads can be made, those that there are serve, one of them at least.
            let _ = thread::Builder::new().spawn_scoped(scope, serve);
        }
        serve();
    });
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn clients_that_ask_for_nothing_yet_keep_none_waiting_that_asks() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Answered at once or never: a server that takes one after the other would hang.
        let together = Barrier::new(THREADS);
        let answer = move |mut stream: &TcpStream| {
            together.wait();
            stream.write_all(b"x")
        };
        thread::spawn(move || for_ever(listener, answer));
        let clients: Vec<_> = (0..THREADS).map(|_| TcpStream::connect(address).unwrap()).collect();
        for mut client in clients {
            client.set_read_timeout(Some(Duration::from_secs(180))).unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            assert_eq!(answer, "x");
        }
    }
}
