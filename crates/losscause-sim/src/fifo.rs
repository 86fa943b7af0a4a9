//! First in, first out.
//!
//! Every packet passes through one or two of these at every link. The number of slots is a power of
//! two and positions only increase, so one `and` finds a slot. `VecDeque`, which allows any number
//! of slots, takes twice the instructions.

/// Entries in order. It grows to the largest number of entries held at once, and allocates nothing
/// after that.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<T> {
    /// None at first, then a power of two.
    slots: Box<[T]>,
    /// Number of entries removed so far, modulo 2^32.
    left: u32,
    /// Number of entries added so far, modulo 2^32.
    came: u32,
}

/// Initial slots: few, so that the buffers of many links stay in the first-level cache.
const RESERVED: usize = 4;

impl<T: Copy + Default> Fifo<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([]), left: 0, came: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.came);
        self.slots[place] = entry;
        self.came = self.came.wrapping_add(1);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = *self.first()?;
        self.left = self.left.wrapping_add(1);
        Some(first)
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.left == self.came {
            return None;
        }
        self.slots.get(self.place(self.left))
    }

    /// The entry at this index, counted from the oldest.
    #[inline]
    pub(crate) fn get(&self, ahead: u32) -> Option<&T> {
        if ahead as usize >= self.len() {
            return None;
        }
        self.slots.get(self.place(self.left.wrapping_add(ahead)))
    }

    /// Whether another entry would need more slots.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.slots.len()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.came.wrapping_sub(self.left) as usize
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len() as u32)
            .filter_map(|ahead| self.slots.get(self.place(self.left.wrapping_add(ahead))))
    }

    #[inline]
    fn place(&self, position: u32) -> usize {
        position as usize & self.slots.len().wrapping_sub(1)
    }

    /// Doubles the slots.
    #[cold]
    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(RESERVED);
        let mut slots = Vec::with_capacity(size);
        slots.extend(self.iter());
        (self.left, self.came) = (0, slots.len() as u32);
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
