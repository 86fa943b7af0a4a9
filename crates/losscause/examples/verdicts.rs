//! Feeds received packets to ZBS and prints a verdict on every missing one, with the numbers it
//! compared.

use losscause::lda::{Zbs, ZbsConfig};
use losscause::{ConfigError, Differentiator, Packet, Span, Time, on_judged};

fn main() -> Result<(), ConfigError> {
    let mut receiver = Differentiator::new(Zbs::new(&ZbsConfig::default())?);
    let mut print = on_judged(|loss, judgement| {
        let seq = loss.seq().unwrap_or_default();
        println!("packet {seq}: {}, {}", judgement.verdict, judgement.reason);
    });
    // A packet every 10 ms, 30 ms on its way and up to 8 ms in a queue; number 61 never arrives.
    for seq in (0..100).filter(|&seq| seq != 61) {
        let sent = Time::ZERO + Span::from_millis(10 * seq);
        let packet = Packet {
            seq: seq as u64,
            at: sent + Span::from_millis(30 + seq % 9),
            sent: Some(sent),
        };
        receiver.on_packet(packet, &mut print);
    }
    Ok(())
}
