//! Packets that exist more than once, because a link doubled them.
//!
//! The first of a packet's copies that arrives counts as the packet. A packet is lost when the last
//! of its copies is lost and none has arrived; the cause is that of the last. Only packets with
//! copies are kept here.

use crate::packet::Handle;

/// Which packets are copies of each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// By slot in the pool, of payloads and of datagrams: the packet's family.
    members: [Vec<Option<u32>>; 2],
    families: Vec<Family>,
    free: Vec<u32>,
    /// Packets that have a family.
    present: u32,
}

/// A packet and its copies.
#[derive(Clone, Copy, Debug)]
struct Family {
    /// Those that are still in the network.
    present: u32,
    has_arrived: bool,
}

impl Copies {
    /// Whether no packet in the network has a copy.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// `copy` is the same packet as `original`.
    pub(crate) fn add(&mut self, original: Handle, copy: Handle) {
        let family = self.member(original).unwrap_or_else(|| {
            let family = Family { present: 0, has_arrived: false };
            let place = self.free.pop().unwrap_or(self.families.len() as u32);
            match self.families.get_mut(place as usize) {
                Some(free) => *free = family,
                None => self.families.push(family),
            }
            self.join(original, place);
            place
        });
        self.join(copy, family);
    }

    /// The packet arrives at an end. Whether it is the first of its copies.
    pub(crate) fn is_first(&mut self, packet: Handle) -> bool {
        self.is_empty()
            || self.leave(packet).is_none_or(|family| {
                let first = !self.families[family].has_arrived;
                self.families[family].has_arrived = true;
                self.release(family);
                first
            })
    }

    /// A link loses the packet. Whether it was the last of its copies, and none has arrived.
    pub(crate) fn is_lost(&mut self, packet: Handle) -> bool {
        self.is_empty()
            || self.leave(packet).is_none_or(|family| {
                let Family { present, has_arrived } = self.families[family];
                self.release(family);
                present == 0 && !has_arrived
            })
    }

    fn member(&self, packet: Handle) -> Option<u32> {
        let (kind, slot) = packet.slot();
        self.members[kind].get(slot).copied().flatten()
    }

    fn join(&mut self, packet: Handle, family: u32) {
        let (kind, slot) = packet.slot();
        let members = &mut self.members[kind];
        if members.len() <= slot {
            members.resize(slot + 1, None);
        }
        members[slot] = Some(family);
        self.families[family as usize].present += 1;
        self.present += 1;
    }

    /// The packet leaves the network. Returns its family, if it has one.
    fn leave(&mut self, packet: Handle) -> Option<usize> {
        let (kind, slot) = packet.slot();
        let family = self.members[kind].get_mut(slot)?.take()? as usize;
        self.families[family].present -= 1;
        self.present -= 1;
        Some(family)
    }

    /// Frees the family's place if none of it is left.
    fn release(&mut self, family: usize) {
        if self.families[family].present == 0 {
            self.free.push(family as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles() -> [Handle; 4] {
        [1, 2, 3, 4].map(Handle::of_slot)
    }

    #[test]
    fn the_first_of_three_to_arrive_counts() {
        let [packet, copy, copy_of_copy, other] = handles();
        let mut copies = Copies::default();
        copies.add(packet, copy);
        copies.add(copy, copy_of_copy);
        assert!(copies.is_first(other) && copies.is_lost(other), "it has no copies");
        assert!(!copies.is_lost(packet), "two are left");
        assert!(copies.is_first(copy_of_copy));
        assert!(!copies.is_first(copy));
        assert!(copies.is_empty());
        // Their slots are used again.
        assert!(copies.is_first(copy));
    }

    #[test]
    fn a_packet_is_lost_with_its_last_copy() {
        let [packet, copy, second, second_copy] = handles();
        let mut copies = Copies::default();
        copies.add(packet, copy);
        copies.add(second, second_copy);
        assert!(!copies.is_lost(copy));
        assert!(copies.is_lost(packet));
        assert!(copies.is_first(second));
        assert!(!copies.is_lost(second_copy), "the other has arrived");
        copies.add(packet, copy);
        assert!(copies.is_first(packet) && !copies.is_first(copy));
    }
}
