//! Counts the arithmetic of the algorithms, in this crate's own tests only; elsewhere the two functions are empty.
//!
//! [`Span`](crate::Span) and [`Real`](crate::filter::Real) report every operator here. A comparison counts as an
//! addition and a division as a multiplication, which is how Table V of Cen 2003 can be understood.

#[cfg(test)]
extern crate std;

#[cfg(test)]
std::thread_local! {
    static COUNT: core::cell::Cell<Count> = const { core::cell::Cell::new(Count { additions: 0, multiplications: 0 }) };
}

/// Arithmetic done since the count began.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) additions: u32,
    pub(crate) multiplications: u32,
}

/// An addition, a subtraction or a comparison happened.
#[inline(always)]
pub(crate) fn addition() {
    #[cfg(test)]
    COUNT.with(|c| c.set(Count { additions: c.get().additions + 1, ..c.get() }));
}

/// A multiplication or a division happened.
#[inline(always)]
pub(crate) fn multiplication() {
    #[cfg(test)]
    COUNT.with(|c| c.set(Count { multiplications: c.get().multiplications + 1, ..c.get() }));
}

/// The arithmetic that `work` does on this thread.
#[cfg(test)]
pub(crate) fn count(work: impl FnOnce()) -> Count {
    COUNT.with(|c| c.set(Count::default()));
    work();
    COUNT.with(core::cell::Cell::get)
}
