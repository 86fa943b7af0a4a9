//! A flow in the captures: its conversation, its packets on their way, and where the bottleneck's
//! tap sees them.

use losscause::Time;
use losscause_capture::write::Packet;
use losscause_sim::rng::Stream;
use losscause_sim::truth::Cause;
use losscause_sim::{FlowSpec, Header, LinkEvent, LinkId, Network, PacketInfo, Traffic};

use super::conversation::Conversation;
use super::drops::Dropped;
use super::handshake::Handshake;
use super::ip::CONGESTION_EXPERIENCED;
use super::media::Media;
use super::taps::{Place, Sight, Tap};
use super::tcp::Tcp;
use super::underway::Underway;
use super::{CaptureSettings, Direction};
use crate::Experiment;

/// A flow in the captures.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    path: Vec<LinkId>,
    return_path: Vec<LinkId>,
    number: usize,
    place: Place,
    conversation: Conversation,
    /// If the captures have one that the simulator has not, and it has not begun.
    pub(super) handshake: Option<Handshake>,
    forward: Underway,
    back: Underway,
}

impl Flow {
    /// The flows of a run. A problem is that one has packets that no capture can have.
    pub(super) fn all(
        experiment: &Experiment,
        seed: u64,
        settings: CaptureSettings,
    ) -> Result<Vec<Self>, String> {
        let network = &experiment.network;
        let flow = |(number, spec): (usize, &FlowSpec)| {
            let wire_bytes = wire_bytes(&spec.traffic);
            if wire_bytes > 65_535 {
                return Err(format!(
                    "the packets of flow {} have {wire_bytes} bytes, expected at most 65535, the most that an IPv4 \
                     packet can have",
                    spec.name
                ));
            }
            let stream = &mut Stream::new(seed, &format!("flow/{}/capture", spec.name));
            let place = Place::of(spec, &experiment.bottleneck);
            let (conversation, handshake) = match &spec.traffic {
                Traffic::Tcp { config, .. } => {
                    let handshake =
                        config.syn_bytes().is_none().then(|| Handshake::new(spec, place, network));
                    let tcp = Tcp::new(number, config, settings.tick, stream);
                    (Conversation::Tcp(Box::new(tcp)), handshake)
                }
                _ => (Conversation::Media(Media::new(number, stream)), None),
            };
            Ok(Self {
                path: spec.path.clone(),
                return_path: spec.return_path.clone(),
                number,
                place,
                conversation,
                handshake,
                forward: Underway::default(),
                back: Underway::default(),
            })
        };
        network.flows.iter().enumerate().map(flow).collect()
    }

    pub(super) fn underway(&mut self, direction: Direction) -> &mut Underway {
        match direction {
            Direction::Forward => &mut self.forward,
            Direction::Back => &mut self.back,
        }
    }

    /// The handshake before the first data packet, which is sent at `data_at`.
    pub(super) fn open(&mut self, handshake: &Handshake, data_at: Time) -> Vec<Sight> {
        let routers = Routers {
            place: self.place,
            path: self.path.len(),
            return_path: self.return_path.len(),
        };
        let Conversation::Tcp(tcp) = &mut self.conversation else { return Vec::new() };
        handshake
            .sights(data_at, tcp, |direction, tap, packet| routers.seen(direction, tap, packet))
            .collect()
    }

    /// An end sends a packet with this header.
    pub(super) fn send(&mut self, at: Time, header: &Header) {
        let (direction, number) = match header {
            Header::Segment(segment) => (Direction::Forward, segment.seq),
            Header::Data(data) => (Direction::Forward, data.seq),
            Header::Datagram { seq, .. } => (Direction::Forward, *seq),
            Header::Ack(ack) => (Direction::Back, ack.next),
            Header::Feedback(_) => (Direction::Back, 0),
        };
        if let Some(packet) = self.conversation.send(at, header) {
            self.underway(direction).push(at, number, packet);
        }
    }

    /// An end receives a packet: what the tap there sees.
    pub(super) fn receive(&mut self, at: Time, info: &PacketInfo) -> Option<Sight> {
        let direction = Direction::of(info.kind);
        let packet = self.underway(direction).take(info)?;
        self.conversation.receive(direction, &packet);
        let tap = if direction == Direction::Forward { Tap::Receiver } else { Tap::Sender };
        Some(Sight { at, tap, packet: self.routers().seen(direction, tap, packet) })
    }

    /// A packet leaves a queue or reaches the far end of a link: what the bottleneck's tap sees of
    /// it.
    pub(super) fn pass(
        &mut self,
        at: Time,
        link: LinkId,
        what: LinkEvent,
        info: &PacketInfo,
    ) -> Option<Sight> {
        let direction = Direction::of(info.kind);
        let Place { forward, back } = self.place;
        let seen = match (direction, what) {
            (Direction::Forward, LinkEvent::TransmitStart) => self.path[forward?] == link,
            (Direction::Back, LinkEvent::Deliver) => self.return_path[back?] == link,
            _ => false,
        };
        if !seen {
            return None;
        }
        let packet = *self.underway(direction).find(info)?;
        Some(Sight {
            at,
            tap: Tap::Bottleneck,
            packet: self.routers().seen(direction, Tap::Bottleneck, packet),
        })
    }

    /// A queue marks a packet.
    pub(super) fn mark(&mut self, info: &PacketInfo) {
        if let Some(packet) = self.underway(Direction::of(info.kind)).find(info) {
            packet.ecn = CONGESTION_EXPERIENCED;
        }
    }

    /// A link drops or corrupts a packet.
    pub(super) fn lose<'a>(
        &mut self,
        at: Time,
        link: LinkId,
        what: LinkEvent,
        info: &PacketInfo,
        network: &'a Network,
    ) -> Option<Dropped<'a>> {
        let packet = self.underway(Direction::of(info.kind)).take(info)?;
        let cause = if what == LinkEvent::QueueDrop { Cause::Congestion } else { Cause::Wireless };
        let link = &network.links[link.0 as usize].name;
        let flow = &network.flows[self.number].name;
        Some(Dropped { at, link, flow, info: *info, packet, cause })
    }

    fn routers(&self) -> Routers {
        Routers { place: self.place, path: self.path.len(), return_path: self.return_path.len() }
    }
}

/// How many routers a packet has passed at each tap. There is one between two links.
#[derive(Clone, Copy, Debug)]
struct Routers {
    place: Place,
    path: usize,
    return_path: usize,
}

impl Routers {
    /// The packet as the tap sees it: every router has counted its time to live down. The
    /// bottleneck's own router does so before the tap of its output, and after that of its input.
    fn seen(self, direction: Direction, tap: Tap, packet: Packet) -> Packet {
        let passed = match (direction, tap) {
            (Direction::Forward, Tap::Sender) | (Direction::Back, Tap::Receiver) => 0,
            (Direction::Forward, Tap::Bottleneck) => self.place.forward.unwrap_or_default(),
            (Direction::Back, Tap::Bottleneck) => self.place.back.unwrap_or_default(),
            (Direction::Forward, Tap::Receiver) => self.path - 1,
            (Direction::Back, Tap::Sender) => self.return_path.saturating_sub(1),
        };
        let passed = u8::try_from(passed).unwrap_or(u8::MAX);
        Packet { time_to_live: packet.time_to_live.saturating_sub(passed).max(1), ..packet }
    }
}

/// Size of a full data packet on the wire, bytes.
fn wire_bytes(traffic: &Traffic) -> u32 {
    match traffic {
        Traffic::Tcp { config, .. } => config.wire_bytes(),
        Traffic::Tfrc { config, .. } => config.payload_bytes.saturating_add(config.header_bytes),
        Traffic::Cbr { packet_bytes, .. }
        | Traffic::OnOff { packet_bytes, .. }
        | Traffic::Poisson { packet_bytes, .. } => *packet_bytes,
    }
}
