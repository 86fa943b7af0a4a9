//! An LDA behind its differentiator, fed with any packets.

use losscause::arrivals::MAX_JUMP_PKTS;
use losscause::{BuiltIn, Differentiator, End, Observed, Packet, Time, on_judged};

use super::bytes::{Bytes, Skips};

/// Every algorithm takes any packets; each gap is judged once, packet by packet, and no jump costs
/// more than it may.
pub fn differentiator(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(choice) = bytes.u8() else { return };
    let algorithms: Vec<BuiltIn> = BuiltIn::at_receivers().collect();
    let algorithm = algorithms[usize::from(choice) % algorithms.len()];
    let mut differentiator =
        Differentiator::new(algorithm.build(End::Receiver).expect("published parameters"));
    let mut seq = 0;
    let mut at = Time::ZERO;
    let mut skips = Skips::new();
    for _ in 0..64 {
        let Some(packet) = packet(&mut bytes, seq, at) else { return };
        if !skips.take(seq, packet.seq) {
            return;
        }
        (seq, at) = (packet.seq, packet.at);
        let mut judged = Vec::new();
        let observed =
            differentiator.on_packet(packet, &mut on_judged(|loss, _| judged.extend(loss.seq())));
        let lost = match observed {
            Observed::InOrder(arrival) => u64::from(arrival.missing),
            Observed::Late | Observed::Duplicate => 0,
        };
        assert!(lost < MAX_JUMP_PKTS);
        assert!(
            judged.iter().copied().eq(packet.seq - lost..packet.seq),
            "{lost} lost before {}",
            packet.seq
        );
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
