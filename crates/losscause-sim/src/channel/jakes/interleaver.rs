//! A block interleaver: the coded bits of several packets, written into a matrix row by row and
//! sent column by column.
//!
//! Packets are written one after the other. Each packet's bits are therefore spread evenly over the
//! whole block, and adjacent bits of a packet are sent a column's height apart. A block of more
//! packets has more rows of the same length, and the last row may be short.
//!
//! Parameters: the number of columns. Deviations: none.

/// The order in which the bits of a block are sent.
#[derive(Clone, Debug)]
pub(super) struct Interleaver {
    order: Vec<u32>,
}

impl Interleaver {
    /// For blocks of `len` bits in rows of `columns`; both positive.
    pub(super) fn new(len: usize, columns: usize) -> Self {
        let columns = columns.min(len);
        let column = |column: usize| (column..len).step_by(columns).map(|position| position as u32);
        Self { order: (0..columns).flat_map(column).collect() }
    }

    /// Positions in the block, in the order in which they are sent.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_are_written_and_columns_are_sent() {
        // 0 1 2 3
        // 4 5 6 7
        // 8 9
        assert_eq!(Interleaver::new(10, 4).order(), [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]);
    }

    #[test]
    fn one_column_and_one_row_change_nothing() {
        assert_eq!(Interleaver::new(3, 1).order(), [0, 1, 2]);
        assert_eq!(Interleaver::new(3, 3).order(), [0, 1, 2]);
        assert_eq!(Interleaver::new(3, 9).order(), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn every_bit_is_sent_once(len in 1_usize..5000, columns in 1_usize..6000) {
            let mut order = Interleaver::new(len, columns).order().to_vec();
            order.sort_unstable();
            prop_assert!(order.iter().enumerate().all(|(index, &position)| index == position as usize));
            prop_assert_eq!(order.len(), len);
        }
    }
}
