//! The SYN and its answer, of a connection that the simulator begins with data.
//!
//! Without them a capture does not say how windows are scaled and whether SACK is allowed. They are
//! in the captures only: no link carries them, and they are not among a flow's packets. They cross
//! each link in the time that an empty one needs, so that the first data packet follows the answer
//! at once.

use losscause::{Span, Time};
use losscause_capture::write::Packet;
use losscause_sim::{FlowSpec, LinkId, Network};

use super::drops::Direction;
use super::taps::{Place, Sight, Tap};
use super::tcp::Tcp;

/// When the packets of a handshake pass.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    /// From the sender to the receiver, and back.
    path: Span,
    return_path: Span,
    /// From an end to the bottleneck's router.
    to_bottleneck: Option<Span>,
    back_to_bottleneck: Option<Span>,
}

/// Bytes of a SYN: IPv4, TCP with 20 bytes of options.
const SYN_BYTES: i64 = 60;

impl Handshake {
    pub(super) fn new(flow: &FlowSpec, place: Place, network: &Network) -> Self {
        let along = |links: &[LinkId]| -> Span {
            links
                .iter()
                .map(|link| {
                    let link = &network.links[link.0 as usize];
                    let bits = i128::from(SYN_BYTES) * 8 * 1_000_000_000;
                    link.delay + Span::from_nanos((bits / i128::from(link.rate_bps.max(1))) as i64)
                })
                .fold(Span::ZERO, |sum, span| sum + span)
        };
        Self {
            path: along(&flow.path),
            return_path: along(&flow.return_path),
            to_bottleneck: place.forward.map(|before| along(&flow.path[..before])),
            back_to_bottleneck: place.back.map(|last| along(&flow.return_path[..=last])),
        }
    }

    /// From the SYN to the first data packet.
    pub(super) fn lasts(&self) -> Span {
        self.path + self.return_path
    }

    /// The packets of a connection whose data begins at `data_at`, as the taps see them. `seen`
    /// sets what a tap sees of a packet.
    pub(super) fn sights(
        &self,
        data_at: Time,
        tcp: &mut Tcp,
        seen: impl Fn(Direction, Tap, Packet) -> Packet,
    ) -> impl Iterator<Item = Sight> {
        let begins = data_at - self.lasts();
        let syn = tcp.syn(begins);
        tcp.receive(Direction::Forward, &syn);
        let answers = begins + self.path;
        let answer = tcp.syn_ack(answers);
        tcp.receive(Direction::Back, &answer);
        let sight =
            |direction, tap, at, packet| Sight { at, tap, packet: seen(direction, tap, packet) };
        let forward = Direction::Forward;
        let back = Direction::Back;
        [
            Some(sight(forward, Tap::Sender, begins, syn)),
            self.to_bottleneck.map(|span| sight(forward, Tap::Bottleneck, begins + span, syn)),
            Some(sight(forward, Tap::Receiver, answers, syn)),
            Some(sight(back, Tap::Receiver, answers, answer)),
            self.back_to_bottleneck
                .map(|span| sight(back, Tap::Bottleneck, answers + span, answer)),
            Some(sight(back, Tap::Sender, data_at, answer)),
        ]
        .into_iter()
        .flatten()
    }
}
