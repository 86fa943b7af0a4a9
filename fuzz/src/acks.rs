//! An algorithm at a sender, fed with anything that a transport could report.

use losscause::ack::Fixed;
use losscause::{AnyAlgorithm, BuiltIn, End, SenderDifferentiator, Signal, Span, Time, Verdict};

use super::bytes::Bytes;

/// Remembers 32 packets.
type Sender = SenderDifferentiator<AnyAlgorithm, Fixed<32>>;

/// Reports per input.
const REPORTS: usize = 256;

/// Every algorithm takes any sendings, acknowledgements and losses. A signal that means congestion
/// is congestion, and only a wireless verdict may replace one at the end of a recovery.
pub fn sender_lda(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(choice) = bytes.u8() else { return };
    let algorithm = BuiltIn::ALL[usize::from(choice) % BuiltIn::ALL.len()];
    let lda = algorithm.build(End::Sender).expect("published parameters");
    let mut sender = Sender::new(lda);
    let mut now = Time::ZERO;
    let mut number = 0;
    for _ in 0..REPORTS {
        if report(&mut bytes, &mut sender, &mut now, &mut number).is_none() {
            return;
        }
    }
}

fn report(bytes: &mut Bytes, sender: &mut Sender, now: &mut Time, number: &mut u64) -> Option<()> {
    let kind = bytes.u8()?;
    *now = if kind & 0x80 == 0 { bytes.later(*now)? } else { Time::from_nanos(bytes.i64()? >> 1) };
    match kind % 8 {
        0..=2 => {
            *number = bytes.seq(*number)?;
            sender.on_sent(*number, *now);
        }
        3 => sender.on_acked(bytes.seq(*number)?),
        4 => sender.on_lost(bytes.seq(*number)?),
        5 => sender.set_cwnd(bytes.f64()?),
        6 => {
            sender.on_acked_sent_at(*now - Span::from_nanos(bytes.u32()?.into()));
            let recovering = sender.is_recovering();
            let revised = sender.end_of_ack(*now, None, &mut ());
            assert!(
                revised
                    .is_none_or(|judgement| recovering && judgement.verdict == Verdict::Wireless)
            );
        }
        _ => {
            let signal = match bytes.u8()? % 8 {
                0 => Signal::Timeout,
                1 => Signal::EcnMark,
                2 => Signal::PersistentCongestion,
                _ => Signal::Gap,
            };
            let judgement = sender.declare(*now, signal, &mut ());
            assert!(!signal.means_congestion() || judgement.verdict == Verdict::Congestion);
            assert!(
                sender.is_recovering()
                    && sender.declared().is_some_and(|loss| loss.signal == signal)
            );
        }
    }
    Some(())
}
