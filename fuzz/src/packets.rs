//! An LDA behind its differentiator, fed with any packets.

use losscause::observe::{Differentiator, MAX_JUMP_PKTS, Observed};
use losscause::{Algorithm, Packet, Time};

use super::bytes::{Bytes, Skips};

/// Every algorithm takes any packets; each gap is judged once, packet by packet, and no jump costs more than it may.
pub fn differentiator(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(choice) = bytes.u8() else { return };
    let algorithm = BuiltIn::AT_RECEIVERS[usize::from(choice) % BuiltIn::AT_RECEIVERS.len()];
    let mut differentiator = Differentiator::new(algorithm.build().expect("published parameters"));
    let (mut seq, mut at, mut skips) = (0, Time::ZERO, Skips::new());
    for _ in 0..64 {
        let Some(packet) = packet(&mut bytes, seq, at) else { return };
        if !skips.take(seq, packet.seq) {
            return;
        }
        (seq, at) = (packet.seq, packet.at);
        let mut judged = Vec::new();
        let observed = differentiator.on_packet(packet, |lost, _| judged.push(lost));
        let lost = match observed {
            Observed::InOrder(arrival) => u64::from(arrival.lost()),
            Observed::Late | Observed::Duplicate => 0,
        };
        assert!(lost < MAX_JUMP_PKTS);
        assert!(judged.iter().copied().eq(packet.seq - lost..packet.seq), "{lost} lost before {}", packet.seq);
    }
}

fn packet(bytes: &mut Bytes, seq: u64, at: Time) -> Option<Packet> {
    let seq = bytes.seq(seq)?;
    // A receiver's clock may be set back, too.
    let at = if bytes.u8()? == 0 { Time::from_nanos(bytes.i64()?) } else { later(bytes, at)? };
    let sent = if bytes.u8()? == 0 { None } else { Some(bytes.foreign_time(at)?) };
    Some(Packet { seq, at, sent })
}

fn later(bytes: &mut Bytes, at: Time) -> Option<Time> {
    let nanos = i64::from(bytes.u32()?);
    Some(Time::from_nanos(at.as_nanos().saturating_add(nanos)))
}
