//! A receiver on a socket.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::clock::Clock;
use super::{AT_ONCE, LARGEST, NetError, may_pass, random};
use crate::{Event, Key, Receiver, ReceiverConfig, ReceiverStats};

/// A receiver at work. It serves one stream after the other until it is closed or dropped.
#[derive(Debug)]
pub struct Receiving {
    events: mpsc::Receiver<Event>,
    stats: watch::Receiver<ReceiverStats>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(), NetError>>,
}

/// Events that may wait for the application. While as many wait, nothing is read from the socket,
/// so that the sender hears of it as congestion.
const EVENTS: usize = 1024;
/// After the end, a repeated Bye is answered for so long.
const LINGER: Duration = Duration::from_secs(1);

impl Receiving {
    /// Waits for a sender at `address`; port 0 is any free one.
    ///
    /// # Errors
    /// A setting is out of range, or the address cannot be used.
    pub async fn bind(
        address: SocketAddr,
        config: &ReceiverConfig,
        key: &Key,
    ) -> Result<Self, NetError> {
        let receiver = Receiver::new(config, key, &random()?)?;
        let socket = UdpSocket::bind(address)
            .await
            .map_err(|reason| NetError::Address { address, reason })?;
        let address = socket.local_addr().map_err(NetError::Socket)?;
        let (outgoing, events) = mpsc::channel(EVENTS);
        let (publish, stats) = watch::channel(receiver.stats());
        let (stop, stopped) = watch::channel(false);
        let task = Task {
            receiver,
            socket,
            clock: Clock::start(),
            outgoing,
            publish,
            stopped,
            close_at: None,
        };
        Ok(Self { events, stats, address, stop, task: tokio::spawn(task.run()) })
    }

    /// The address in use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next event; none if the socket failed, which [`Receiving::close`] explains.
    pub async fn event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// What happened so far.
    pub fn stats(&self) -> ReceiverStats {
        *self.stats.borrow()
    }

    /// Tells the sender to stop, if a stream has not ended. Its [`Event::Ended`] follows.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Closes the socket, after a second in which a repeated Bye is answered.
    ///
    /// # Errors
    /// The socket failed.
    pub async fn close(mut self) -> Result<ReceiverStats, NetError> {
        self.stop();
        // Nobody reads the events any more.
        self.events.close();
        while self.events.recv().await.is_some() {}
        self.task.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        Ok(*self.stats.borrow())
    }
}

struct Task {
    receiver: Receiver,
    socket: UdpSocket,
    clock: Clock,
    outgoing: mpsc::Sender<Event>,
    publish: watch::Sender<ReceiverStats>,
    stopped: watch::Receiver<bool>,
    close_at: Option<Instant>,
}

impl Task {
    async fn run(mut self) -> Result<(), NetError> {
        let mut buffer = vec![0; LARGEST];
        loop {
            self.transmit().await?;
            while let Some(event) = self.receiver.poll_event() {
                // If nobody listens, the stream goes on until it is closed.
                let _ = self.outgoing.send(event).await;
            }
            let stats = self.receiver.stats();
            self.publish.send_if_modified(|last| std::mem::replace(last, stats) != stats);
            let close_at = self.close_at;
            tokio::select! {
                received = self.socket.recv_from(&mut buffer) => match received {
                    Ok((bytes, from)) => self.take_in(&mut buffer, bytes, from),
                    Err(reason) if may_pass(&reason) => {}
                    Err(reason) => return Err(NetError::Socket(reason)),
                },
                // Also if the handle was dropped.
                _ = self.stopped.changed(), if close_at.is_none() => {
                    self.receiver.stop(self.clock.now());
                    self.close_at = Some(Instant::now() + LINGER);
                }
                () = self.clock.sleep_until(self.receiver.poll_timeout()) => self.receiver.on_timeout(self.clock.now()),
                () = sleep_until(close_at) => return Ok(()),
            }
        }
    }

    /// Takes in a packet, and those that wait behind it.
    fn take_in(&mut self, buffer: &mut [u8], bytes: usize, from: SocketAddr) {
        let mut bytes = bytes;
        let mut from = from;
        for _ in 0..AT_ONCE {
            self.receiver.on_datagram(self.clock.now(), from, &buffer[..bytes]);
            match self.socket.try_recv_from(buffer) {
                Ok(next) => (bytes, from) = next,
                Err(_) => return,
            }
        }
    }

    async fn transmit(&mut self) -> Result<(), NetError> {
        while let Some(transmit) = self.receiver.poll_transmit(self.clock.now()) {
            match self.socket.send_to(&transmit.bytes, transmit.to).await {
                Err(reason) if !may_pass(&reason) => return Err(NetError::Socket(reason)),
                _ => {}
            }
        }
        Ok(())
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
