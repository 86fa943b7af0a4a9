//! The newer format: sections of blocks; interfaces with a link type and a clock each.

use std::io::Read;

use losscause::Time;
use pcap_parser::{
    Block, EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, OptionCode, PcapNGOption, SHB_MAGIC, SPB_MAGIC,
    parse_block_be, parse_block_le,
};

use super::window::Window;
use super::{Direction, Ends, Framed, LinkType, MAX_RECORD_BYTES};

/// Reads the blocks of a pcapng file.
pub(super) struct Pcapng {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Packets that the sections before this one say were dropped.
    dropped_before: Option<u64>,
}

/// A block as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawBlock<'a> {
    pub(crate) kind: u32,
    pub(crate) is_big_endian: bool,
    /// All of it, from its kind to its second length.
    pub(crate) bytes: &'a [u8],
}

/// What an interface description block says.
#[derive(Clone, Copy)]
struct Interface {
    link: LinkType,
    clock: Clock,
    /// Seconds to add to every time.
    offset_s: i64,
    /// Bytes of a packet that are kept; 0 keeps all.
    snap: u32,
    /// Packets that its newest statistics say were dropped before they were written.
    dropped: Option<u64>,
}

/// The unit of an interface's times.
#[derive(Clone, Copy)]
enum Clock {
    /// So many nanoseconds.
    Nanoseconds(i64),
    /// So many per second.
    PerSecond(u64),
}

impl Clock {
    /// From the option `if_tsresol`: a power of ten, or of two if the highest bit is set.
    fn from_resolution(exponent: u8) -> Self {
        let low = u32::from(exponent & 0x7f);
        match exponent & 0x80 {
            0 if low <= 9 => Clock::Nanoseconds(10_i64.pow(9 - low)),
            0 => Clock::PerSecond(10_u64.saturating_pow(low)),
            _ => Clock::PerSecond(1_u64.checked_shl(low).unwrap_or(u64::MAX)),
        }
    }

    fn time(self, ticks: u64, offset_s: i64) -> Time {
        let nanos = match self {
            Clock::Nanoseconds(each) => (ticks as i64).saturating_mul(each),
            Clock::PerSecond(many) => {
                (u128::from(ticks) * 1_000_000_000 / u128::from(many.max(1))) as i64
            }
        };
        Time::from_nanos(nanos.saturating_add(offset_s.saturating_mul(1_000_000_000)))
    }
}

/// A file that describes more interfaces is damaged or hostile.
const MAX_INTERFACES: usize = 65_536;

impl Pcapng {
    pub(super) fn recognises(first: &[u8]) -> bool {
        first.starts_with(&SHB_MAGIC.to_le_bytes())
    }

    pub(super) fn begin() -> Self {
        Self { big_endian: false, interfaces: Vec::new(), dropped_before: None }
    }

    /// Packets that the file itself says were dropped before they were written; none if it does not
    /// say.
    pub(super) fn dropped(&self) -> Option<u64> {
        let of_interfaces = self.interfaces.iter().filter_map(|interface| interface.dropped);
        self.dropped_before.into_iter().chain(of_interfaces).reduce(u64::saturating_add)
    }

    pub(super) fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    #[inline]
    pub(super) fn next<R: Read>(&mut self, window: &mut Window<R>) -> Result<Framed, Ends> {
        loop {
            let (kind, total) = self.next_block(window)?;
            // Only these blocks matter; the others may hold anything.
            if [EPB_MAGIC, SPB_MAGIC, IDB_MAGIC, ISB_MAGIC].contains(&kind)
                && let Some(framed) = self.block(window, total)?
            {
                return Ok(framed);
            }
            window.consume(total);
        }
    }

    /// The kind and the length of the next block, which the window holds.
    #[inline]
    pub(super) fn next_block<R: Read>(
        &mut self,
        window: &mut Window<R>,
    ) -> Result<(u32, usize), Ends> {
        if !window.hold(12)? {
            return Err(Ends::after(window));
        }
        let data = window.data();
        let word = |at: usize| -> [u8; 4] { std::array::from_fn(|i| data[at + i]) };
        let kind = word(0);
        if kind == SHB_MAGIC.to_le_bytes() {
            // A section says its own byte order.
            self.big_endian = word(8) == [0x1a, 0x2b, 0x3c, 0x4d];
            self.dropped_before = self.dropped();
            self.interfaces.clear();
        }
        let number = |bytes| {
            if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let kind = number(kind);
        let total = number(word(4)) as usize;
        let damaged = |problem| Ends::Damaged { offset: window.position(), problem };
        if total < 12 || !total.is_multiple_of(4) {
            return Err(damaged("a block's length is no multiple of 4 from 12 on"));
        }
        if total > MAX_RECORD_BYTES {
            return Err(damaged("a block claims more than 16 MiB"));
        }
        if !window.hold(total)? {
            return Err(Ends::after(window));
        }
        Ok((kind, total))
    }

    fn block<R: Read>(&mut self, window: &Window<R>, total: usize) -> Result<Option<Framed>, Ends> {
        let damaged = |problem| Ends::Damaged { offset: window.position(), problem };
        let bytes = &window.data()[..total];
        let parse = if self.big_endian { parse_block_be } else { parse_block_le };
        let Ok((_, block)) = parse(bytes) else {
            return Err(damaged("a block contradicts itself"));
        };
        match block {
            Block::InterfaceDescription(description) => {
                if self.interfaces.len() == MAX_INTERFACES {
                    return Err(damaged("a section describes more than 65,536 interfaces"));
                }
                self.interfaces.push(Interface {
                    link: LinkType(description.linktype.0 as u32),
                    clock: Clock::from_resolution(description.if_tsresol),
                    offset_s: description.if_tsoffset,
                    snap: description.snaplen,
                    dropped: None,
                });
                Ok(None)
            }
            Block::EnhancedPacket(packet) => {
                let Some(interface) = self.interfaces.get(packet.if_id as usize) else {
                    return Err(damaged("a packet names an interface that was not described"));
                };
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                Ok(Some(Framed {
                    time: interface.clock.time(ticks, interface.offset_s),
                    link: interface.link,
                    original: packet.origlen,
                    // The block's header has 28 bytes; the parser checked that the packet lies
                    // inside the block.
                    packet: 28..28 + packet.caplen as usize,
                    total,
                    direction: direction(&packet.options, self.big_endian),
                }))
            }
            Block::SimplePacket(packet) => {
                let Some(interface) = self.interfaces.first() else {
                    return Err(damaged("a packet comes before any interface"));
                };
                let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
                let captured = (packet.origlen.min(snap) as usize).min(total - 16);
                // Without a time, order is all that is known.
                let time = Time::ZERO;
                let original = packet.origlen;
                let packet = 12..12 + captured;
                Ok(Some(Framed {
                    time,
                    link: interface.link,
                    original,
                    packet,
                    total,
                    direction: None,
                }))
            }
            Block::InterfaceStatistics(statistics) => {
                // Counters count from the interface's beginning, so the newest block replaces those
                // before it.
                if let Some(interface) = self.interfaces.get_mut(statistics.if_id as usize) {
                    let dropped = dropped(&statistics.options, self.big_endian);
                    interface.dropped = dropped.or(interface.dropped);
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// The options `isb_ifdrop` and `isb_osdrop` of statistics: dropped by the interface, and by the
/// system behind it.
const ISB_DROPS: [OptionCode; 2] = [OptionCode(5), OptionCode(7)];

/// What these options say together; none if neither says anything.
fn dropped(options: &[PcapNGOption<'_>], big_endian: bool) -> Option<u64> {
    let counts =
        options.iter().filter(|option| ISB_DROPS.contains(&option.code)).filter_map(|option| {
            let bytes = *option.value.first_chunk()?;
            Some(if big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
        });
    // All bits stand for a counter that is not known.
    counts.filter(|count| *count != u64::MAX).reduce(u64::saturating_add)
}

/// The option `epb_flags` of a packet.
const EPB_FLAGS: OptionCode = OptionCode(2);

/// What that option says.
#[inline]
fn direction(options: &[PcapNGOption<'_>], big_endian: bool) -> Option<Direction> {
    let flags = options.iter().find(|option| option.code == EPB_FLAGS)?;
    let bytes = *flags.value.first_chunk()?;
    let flags = if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    match flags & 3 {
        1 => Some(Direction::Received),
        2 => Some(Direction::Sent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_powers_of_ten_and_two_give_nanoseconds() {
        let time = |resolution, ticks| Clock::from_resolution(resolution).time(ticks, 0).as_nanos();
        assert_eq!(time(6, 1_500_000), 1_500_000_000);
        assert_eq!(time(9, 7), 7);
        assert_eq!(time(12, 7_000), 7);
        assert_eq!(time(0x80 | 10, 1_024 + 512), 1_500_000_000);
        assert_eq!(Clock::from_resolution(6).time(1, -2).as_nanos(), 1_000 - 2_000_000_000);
    }
}
