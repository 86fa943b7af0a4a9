//! First in, first out.
//!
//! Every packet passes through one or two of these at every link. The oldest entry is part of the
//! queue itself: most links of many flows hold one packet at a time, and then a packet touches no
//! other memory. The others are in slots, whose number is a power of two; positions only increase,
//! so one `and` finds a slot. `VecDeque`, which allows any number of slots, takes twice the
//! instructions.

/// Entries in order. It grows to the largest number of entries held at once, and allocates nothing
/// after that.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Fifo<T> {
    /// The oldest entry, if there is one.
    first: T,
    /// Number of entries.
    len: u32,
    /// Position of the second oldest entry, modulo 2^32.
    second: u32,
    /// The other entries. None at first, then a power of two.
    slots: Box<[T]>,
}

/// Initial slots: few, so that the buffers of many links stay in the first-level cache.
const RESERVED: usize = 4;

impl<T: Copy + Default> Fifo<T> {
    pub(crate) fn new() -> Self {
        Self { first: T::default(), len: 0, second: 0, slots: Box::new([]) }
    }

    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        if self.len == 0 {
            self.first = entry;
            self.len = 1;
            return;
        }
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = entry;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = *self.first()?;
        if let Some(&second) = self.get(1) {
            self.first = second;
            self.second = self.second.wrapping_add(1);
        }
        self.len -= 1;
        Some(first)
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        (self.len > 0).then_some(&self.first)
    }

    /// The entry at this index, counted from the oldest.
    #[inline]
    pub(crate) fn get(&self, ahead: u32) -> Option<&T> {
        if ahead >= self.len {
            return None;
        }
        if ahead == 0 { Some(&self.first) } else { self.slots.get(self.place(ahead)) }
    }

    /// Whether another entry would need more slots.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() > self.slots.len()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len).filter_map(|ahead| self.get(ahead))
    }

    /// The slot of the entry at index `ahead`, 1 or more.
    #[inline]
    fn place(&self, ahead: u32) -> usize {
        self.second.wrapping_add(ahead - 1) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Doubles the slots.
    #[cold]
    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(RESERVED);
        let mut slots = Vec::with_capacity(size);
        slots.extend(self.iter().skip(1));
        self.second = 0;
        slots.resize(size, T::default());
        self.slots = slots.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order_however_it_grows_and_turns(
            steps in prop::collection::vec((0_usize..100, 0_usize..100), 0..20),
        ) {
            let mut fifo = Fifo::new();
            let mut model = VecDeque::new();
            let mut number = 0;
            for (pushes, pops) in steps {
                for _ in 0..pushes {
                    fifo.push(number);
                    model.push_back(number);
                    number += 1;
                }
                prop_assert!(fifo.iter().eq(model.iter()));
                prop_assert_eq!((fifo.len(), fifo.first()), (model.len(), model.front()));
                prop_assert_eq!(fifo.get(pops as u32), model.get(pops));
                for _ in 0..pops {
                    prop_assert_eq!(fifo.pop(), model.pop_front());
                }
            }
        }
    }
}
