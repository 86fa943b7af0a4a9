//! What crossed the link, as the emulator saw it.

use std::collections::HashMap;

use losscause::Time;
use losscause_linux::emulator::{Header, Sight};
use losscause_sim::Histogram;
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;

/// A data packet that the link lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// The sender's port, which tells the connection.
    pub(super) port: u16,
    pub(super) seq: u32,
    pub(super) payload_bytes: u32,
    /// When it came to the link, since 1970.
    pub(super) came: Time,
    pub(super) cause: Cause,
}

/// Counts of the direction from the sender to the peer.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    pub(super) losses: Vec<Loss>,
    pub(super) delivered: u64,
    /// How late packets were delivered, in both directions.
    pub(super) late: Histogram,
    /// How long delivered packets waited in the queue.
    pub(super) waited: Histogram,
    sent: HashMap<u16, Sent>,
}

/// What a connection has sent.
#[derive(Debug, Default)]
struct Sent {
    /// The sequence number behind the last one.
    end: Option<u32>,
    /// Packets whose data had been sent before.
    repeats: u64,
}

impl Crossing {
    /// Takes a sight. `since_1970` converts the link's time.
    pub(super) fn take(&mut self, sight: &Sight<'_>, since_1970: impl Fn(Time) -> Time) {
        match *sight {
            Sight::Came { direction: Direction::Forward, packet, .. } => {
                if let Some(header) = Header::of(packet) {
                    self.sent.entry(header.source.port()).or_default().take(&header);
                }
            }
            Sight::Delivered { due, written, queued, direction, .. } => {
                self.late.record(written - due);
                if direction == Direction::Forward {
                    self.delivered += 1;
                    self.waited.record(queued);
                }
            }
            Sight::Lost { came, cause, direction: Direction::Forward, packet, .. } => {
                if let Some(Header { source, seq: Some(seq), payload_bytes, .. }) =
                    Header::of(packet)
                {
                    let came = since_1970(came);
                    self.losses.push(Loss { port: source.port(), seq, payload_bytes, came, cause });
                }
            }
            _ => {}
        }
    }

    /// Retransmissions of the connections from these ports.
    pub(super) fn retransmissions(&self, of: impl Fn(u16) -> bool) -> u64 {
        self.sent.iter().filter(|(port, _)| of(**port)).map(|(_, sent)| sent.repeats).sum()
    }

    /// Packets that the queue dropped.
    pub(super) fn queue_drops(&self) -> usize {
        self.losses.iter().filter(|loss| loss.cause == Cause::Congestion).count()
    }
}

impl Sent {
    /// Sequence numbers wrap around.
    fn take(&mut self, header: &Header) {
        let Some(seq) = header.seq.filter(|_| header.syn || header.payload_bytes > 0) else {
            return;
        };
        let end = self.end.unwrap_or(seq);
        let beyond = seq.wrapping_add(header.payload_bytes + u32::from(header.syn));
        if (seq.wrapping_sub(end) as i32) < 0 {
            self.repeats += 1;
        }
        if (beyond.wrapping_sub(end) as i32) > 0 {
            self.end = Some(beyond);
        }
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;
    use losscause_sim::LinkId;

    use super::*;

    /// A TCP packet from this port with 1000 bytes from `seq` on.
    fn packet(port: u16, seq: u32) -> Vec<u8> {
        let mut packet =
            vec![0x45, 0, 4, 16, 0, 9, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
        packet.extend(port.to_be_bytes());
        packet.extend([0, 80]);
        packet.extend(seq.to_be_bytes());
        packet.extend([0, 0, 0, 0, 0x50, 0x10]);
        packet.resize(1040, 0);
        packet
    }

    #[test]
    fn data_sent_before_is_a_retransmission_across_a_wrap_too() {
        let mut crossing = Crossing::default();
        let direction = Direction::Forward;
        for (port, seq) in
            [(1, u32::MAX - 99), (1, 900), (2, 900), (1, u32::MAX - 99), (1, 1900), (2, 900)]
        {
            crossing.take(
                &Sight::Came { at: Time::ZERO, direction, packet: &packet(port, seq) },
                |at| at,
            );
        }
        assert_eq!(crossing.retransmissions(|_| true), 2);
        assert_eq!(crossing.retransmissions(|port| port == 2), 1);
    }

    #[test]
    fn a_loss_has_its_connection_number_cause_and_time() {
        let mut crossing = Crossing::default();
        let came = Time::ZERO;
        let direction = Direction::Forward;
        let link = LinkId(0);
        for (cause, packet) in [(Cause::Congestion, packet(7, 5)), (Cause::Wireless, packet(8, 6))]
        {
            let lost = Sight::Lost {
                came,
                at: came,
                cause,
                link,
                queue_packets: 0,
                direction,
                packet: &packet,
            };
            crossing.take(&lost, |at| at + Span::from_secs(3));
        }
        let at = Time::ZERO + Span::from_secs(3);
        let loss = |port, seq, cause| Loss { port, seq, payload_bytes: 1000, came: at, cause };
        assert_eq!(crossing.losses, [loss(7, 5, Cause::Congestion), loss(8, 6, Cause::Wireless)]);
        assert_eq!(crossing.queue_drops(), 1);
    }
}
