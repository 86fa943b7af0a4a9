//! Runs independent jobs on several threads and returns the results in the order of the jobs.
//!
//! [`Jobs::map`] runs to its end. [`Workers`] can be told to stop, and can work on jobs that
//! consist of jobs.

use std::num::NonZeroUsize;
use std::thread;

use crate::InputError;

mod permits;
mod stop;
mod workers;

pub use stop::{Stop, Stopped};
pub use workers::Workers;

/// The number of threads; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs(NonZeroUsize);

impl Jobs {
    /// `count` threads.
    ///
    /// # Errors
    /// Zero threads would never finish.
    pub fn new(count: usize) -> Result<Self, InputError> {
        NonZeroUsize::new(count).map(Self).ok_or_else(|| {
            InputError::option(format!("--jobs {count}"), "expected 1 or more threads")
        })
    }

    /// Applies `work` to every item and returns the results in the order of the items, for any
    /// number of threads. `done(n)` is called on the calling thread after the n-th result.
    pub fn map<T: Sync, R: Send>(
        self,
        items: &[T],
        work: impl Fn(&T) -> R + Sync,
        done: impl FnMut(usize),
    ) -> Vec<R> {
        Workers::from(self)
            .map(items, work, done)
            .expect("nothing stops workers made of a number of jobs")
    }

    fn count(self) -> usize {
        self.0.get()
    }
}

impl Default for Jobs {
    /// One thread per core that this process may use.
    fn default() -> Self {
        Self(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items_on_any_number_of_threads() {
        let items: Vec<u64> = (0..200).collect();
        let expected: Vec<u64> = items.iter().map(|n| n * n).collect();
        for jobs in [1, 2, 7, 300] {
            let mut seen = Vec::new();
            // Later items are faster, so they finish first.
            let slow_square = |n: &u64| {
                thread::sleep(std::time::Duration::from_micros(200 - n));
                n * n
            };
            let squares = Jobs::new(jobs).unwrap().map(&items, slow_square, |n| seen.push(n));
            assert_eq!(squares, expected);
            assert_eq!(seen, (1..=200).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_items_need_no_threads() {
        assert!(Jobs::default().map(&[] as &[u8], |n| *n, |_| ()).is_empty());
    }

    #[test]
    fn each_result_is_taken_once_with_the_place_of_its_item() {
        for jobs in [1, 3] {
            let mut taken = vec![0; 50];
            let items: Vec<usize> = (0..50).collect();
            let workers = Workers::from(Jobs::new(jobs).unwrap());
            let take = |index, result| {
                assert_eq!(result, index * 2);
                taken[index] += 1;
            };
            assert_eq!(workers.each(&items, |n| n * 2, take), Ok(()));
            assert_eq!(taken, vec![1; 50]);
        }
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_in_a_worker_reaches_the_caller() {
        Jobs::new(2).unwrap().map(&[1, 2, 3, 4], |n| assert!(*n != 3, "item 3"), |_| ());
    }

    #[test]
    fn zero_jobs_are_refused() {
        assert_eq!(Jobs::new(0).unwrap_err().to_string(), "--jobs 0: expected 1 or more threads");
    }
}
