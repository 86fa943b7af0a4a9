//! The least of many times, but for a few that stand alone: one packet that is stamped wrongly must
//! not rule a flow.

use losscause::Span;

/// The least of many times that others support.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Least {
    /// In order.
    smallest: [Option<Span>; 3],
    count: u32,
}

/// Of so many times one may be wrong, and of so many two: of fewer, a wrong one could not be told
/// from the others.
const ONE_WRONG: u32 = 3;
const TWO_WRONG: u32 = 16;
/// Times are close if they differ by this part of the smaller one: a wrong time is seldom so little
/// wrong, and on all but very slow links a packet more in the queue is a smaller part of a round
/// trip.
const CLOSE: i64 = 4;

impl Least {
    /// Takes in a time. Returns whether another value may come of it.
    #[inline]
    pub(crate) fn take(&mut self, time: Span) -> bool {
        if self.count >= TWO_WRONG && self.smallest[2] <= Some(time) {
            return false;
        }
        self.insert(time);
        true
    }

    #[cold]
    fn insert(&mut self, time: Span) {
        self.count = self.count.saturating_add(1);
        let place = self.smallest.iter().position(|kept| kept.is_none_or(|kept| time < kept));
        if let Some(place) = place {
            self.smallest[place..].rotate_right(1);
            self.smallest[place] = Some(time);
        }
    }

    /// The least time that as many others support as may be wrong; none before the first one.
    #[inline]
    pub(crate) fn value(&self) -> Option<Span> {
        self.smallest[usize::from(self.count >= ONE_WRONG) + usize::from(self.count >= TWO_WRONG)]
    }

    /// The least time of all, whether others support it or not.
    pub(crate) fn lowest(&self) -> Option<Span> {
        self.smallest[0]
    }

    /// The least that another one comes close to; if none does, the largest of those that were
    /// kept.
    pub(crate) fn supported(&self) -> Option<Span> {
        let mut kept = self.smallest.into_iter().flatten();
        let first = kept.next()?;
        let supported =
            |time: Span, next: Span| if next - time <= time / CLOSE { Err(time) } else { Ok(next) };
        Some(kept.try_fold(first, supported).unwrap_or_else(|supported| supported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_time_does_not_count_once_there_are_others() {
        let least = |times: &[i64]| {
            let mut least = Least::default();
            times.iter().for_each(|&ms| _ = least.take(Span::from_millis(ms)));
            least.value().map(|span| span.as_nanos() / 1_000_000)
        };
        assert_eq!(least(&[]), None);
        assert_eq!(least(&[40, 1]), Some(1));
        assert_eq!(least(&[40, 1, 41]), Some(40));
        assert_eq!(
            least(&[1, 43, 40, 1, 42, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54]),
            Some(40)
        );
    }

    #[test]
    fn the_least_time_that_others_come_close_to_is_supported() {
        let supported = |times: &[i64]| {
            let mut least = Least::default();
            for &ms in times {
                least.take(Span::from_millis(ms));
            }
            least.supported()
        };
        assert_eq!(supported(&[60, 42, 44, 46]), Some(Span::from_millis(42)));
        assert_eq!(supported(&[60, 4, 44, 46]), Some(Span::from_millis(44)));
        assert_eq!([supported(&[7]), supported(&[])], [Some(Span::from_millis(7)), None]);
    }
}
