//! Sequence numbers without wrap-around.

/// Turns 32-bit sequence numbers into 64-bit ones: the nearest to the newest (RFC 9293, section
/// 3.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unwrap {
    newest: u64,
}

impl Unwrap {
    /// Begins with a number. It lies one wrap above zero, so that older numbers have room below.
    pub(crate) fn begin(seq: u32) -> Self {
        Self { newest: (1 << 32) | u64::from(seq) }
    }

    #[inline]
    pub(crate) fn unwrap(&self, seq: u32) -> u64 {
        self.newest.wrapping_add_signed(i64::from(seq.wrapping_sub(self.newest as u32) as i32))
    }

    #[inline]
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Takes `seq`, an unwrapped number, for the newest if it is.
    #[inline]
    pub(crate) fn advance(&mut self, seq: u64) {
        self.newest = self.newest.max(seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_forwards_and_backwards() {
        let mut unwrap = Unwrap::begin(u32::MAX - 1);
        let first = unwrap.unwrap(u32::MAX - 1);
        assert_eq!(unwrap.unwrap(3), first + 5);
        unwrap.advance(first + 5);
        assert_eq!(unwrap.unwrap(u32::MAX), first + 1);
        assert_eq!(unwrap.unwrap(3 + (1 << 30)), first + 5 + (1 << 30));
    }

    #[test]
    fn a_number_before_the_first_and_the_wrap_is_smaller() {
        let unwrap = Unwrap::begin(2);
        assert_eq!(unwrap.unwrap(2) - unwrap.unwrap(u32::MAX), 3);
    }

    #[test]
    fn an_older_number_does_not_become_the_newest() {
        let mut unwrap = Unwrap::begin(1000);
        let first = unwrap.unwrap(1000);
        unwrap.advance(first + 500);
        unwrap.advance(first + 100);
        assert_eq!(unwrap.newest(), first + 500);
    }
}
