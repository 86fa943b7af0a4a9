//! A sender on a socket.

use std::io;
use std::net::SocketAddr;

use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::clock::Clock;
use super::{AT_ONCE, LARGEST, NetError, failed, may_pass, random};
use crate::{End, Key, Media, PushError, Sender, SenderConfig, SenderStats};

/// A sender at work. Dropping it ends the stream.
#[derive(Debug)]
pub struct Sending {
    media: mpsc::Sender<Media>,
    stats: watch::Receiver<SenderStats>,
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<(End, SenderStats), NetError>>,
    media_bytes: usize,
}

impl Sending {
    /// Opens a socket and begins the handshake with the receiver at `to`.
    ///
    /// # Errors
    /// A setting is out of range, or no socket can send there.
    pub async fn start(to: SocketAddr, config: &SenderConfig, key: &Key) -> Result<Self, NetError> {
        let mut sender = Sender::new(config, key, random()?)?;
        let any: SocketAddr =
            if to.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let unusable = |reason| NetError::Address { address: to, reason };
        let socket = UdpSocket::bind(any).await.map_err(unusable)?;
        socket.connect(to).await.map_err(|reason| match reason.kind() {
            // A broadcast; a port is not asked for.
            io::ErrorKind::PermissionDenied => unusable(io::Error::other("no single receiver")),
            _ => unusable(reason),
        })?;
        let clock = Clock::start();
        sender.start(clock.now());
        // The session has the queue; the channel only hands over.
        let (media, incoming) = mpsc::channel(1);
        let (publish, stats) = watch::channel(sender.stats());
        let (stop, stopped) = watch::channel(false);
        let task = Task { sender, socket, clock, incoming: Some(incoming), publish, stopped };
        let media_bytes = config.media_bytes();
        Ok(Self { media, stats, stop, task: tokio::spawn(task.run()), media_bytes })
    }

    /// Hands in a packet; waits while as many wait as may.
    ///
    /// # Errors
    /// The packet is too large, or the stream has ended.
    pub async fn send(&self, media: Media) -> Result<(), PushError> {
        if media.payload.len() > self.media_bytes {
            return Err(PushError::TooLarge { bytes: media.payload.len(), most: self.media_bytes });
        }
        self.media.send(media).await.map_err(|_| PushError::Closed)
    }

    /// Hands in a frame, cut into packets; the last one carries the marker.
    ///
    /// # Errors
    /// The stream has ended.
    pub async fn send_frame(
        &self,
        frame: &[u8],
        payload_type: u8,
        media_time: Option<u32>,
    ) -> Result<(), PushError> {
        let mut parts = frame.chunks(self.media_bytes).peekable();
        while let Some(part) = parts.next() {
            let marker = parts.peek().is_none();
            self.send(Media { payload: part.to_vec(), payload_type, marker, media_time }).await?;
        }
        Ok(())
    }

    /// Bytes of media that a packet holds.
    pub fn media_bytes(&self) -> usize {
        self.media_bytes
    }

    /// The rate and the losses now.
    pub fn stats(&self) -> SenderStats {
        *self.stats.borrow()
    }

    /// The rate and the losses from now on: an encoder waits for changes.
    pub fn watch(&self) -> watch::Receiver<SenderStats> {
        self.stats.clone()
    }

    /// Whether the stream has ended, for whatever reason.
    pub fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Sends what waits, then ends the stream.
    ///
    /// # Errors
    /// The socket failed.
    pub async fn finish(self) -> Result<(End, SenderStats), NetError> {
        drop(self.media);
        let ended = self.task.await;
        drop(self.stop);
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// Ends the stream now.
    ///
    /// # Errors
    /// The socket failed.
    pub async fn stop(self) -> Result<(End, SenderStats), NetError> {
        self.stop.send_replace(true);
        self.finish().await
    }
}

struct Task {
    sender: Sender,
    socket: UdpSocket,
    clock: Clock,
    /// None once the application has no more.
    incoming: Option<mpsc::Receiver<Media>>,
    publish: watch::Sender<SenderStats>,
    stopped: watch::Receiver<bool>,
}

impl Task {
    async fn run(mut self) -> Result<(End, SenderStats), NetError> {
        let mut buffer = vec![0; LARGEST];
        loop {
            self.transmit().await?;
            let stats = self.sender.stats();
            self.publish.send_if_modified(|last| std::mem::replace(last, stats) != stats);
            if let Some(end) = self.sender.end() {
                return Ok((end, stats));
            }
            let has_room = self.sender.has_room();
            tokio::select! {
                received = self.socket.recv(&mut buffer) => match received {
                    Ok(bytes) => self.take_in(&mut buffer, bytes),
                    Err(reason) if may_pass(&reason) => {}
                    Err(reason) => return Err(NetError::Socket(reason)),
                },
                media = next(&mut self.incoming), if has_room => match media {
                    Some(media) => {
                        // It fits, and there is room; if the stream ends, the loop does too.
                        let _ = self.sender.push(self.clock.now(), media);
                    }
                    None => {
                        self.incoming = None;
                        self.sender.finish(self.clock.now());
                    }
                },
                // Also if the handle was dropped.
                _ = self.stopped.changed(), if !self.is_stopping() => {
                    self.incoming = None;
                    self.sender.stop(self.clock.now());
                }
                () = self.clock.sleep_until(self.sender.poll_timeout()) => self.sender.on_timeout(self.clock.now()),
            }
        }
    }

    /// Takes in a packet, and those that wait behind it.
    fn take_in(&mut self, buffer: &mut [u8], bytes: usize) {
        let mut bytes = bytes;
        for _ in 0..AT_ONCE {
            let now = self.clock.now();
            // What became due before the packet came.
            self.sender.on_timeout(now);
            self.sender.on_datagram(now, &buffer[..bytes]);
            match self.socket.try_recv(buffer) {
                Ok(next) => bytes = next,
                Err(_) => return,
            }
        }
    }

    async fn transmit(&mut self) -> Result<(), NetError> {
        while let Some(packet) = self.sender.poll_transmit(self.clock.now()) {
            match self.socket.send(&packet).await {
                Err(reason) if !may_pass(&reason) => return Err(failed(packet.len(), reason)),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        self.incoming.is_none() && (*self.stopped.borrow() || self.stopped.has_changed().is_err())
    }
}

/// The next packet of the application; never, once it has no more.
async fn next(incoming: &mut Option<mpsc::Receiver<Media>>) -> Option<Media> {
    match incoming {
        Some(incoming) => incoming.recv().await,
        None => std::future::pending().await,
    }
}
