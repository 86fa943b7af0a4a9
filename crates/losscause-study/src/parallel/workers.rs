//! Threads that work on a list of items, and can be told to stop between two items.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use super::permits::Permits;
use super::{Jobs, Stop, Stopped};

/// Threads that work on items. Copies have the same limits.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Most threads of one list.
    jobs: Jobs,
    /// Shared by the lists that are worked on at the same time, so that together they have no more
    /// than `jobs` items under way.
    permits: Option<Arc<Permits>>,
    stop: Stop,
}

impl From<Jobs> for Workers {
    /// Workers that nothing stops.
    fn from(jobs: Jobs) -> Self {
        Self { jobs, permits: None, stop: Stop::new() }
    }
}

impl Workers {
    /// The same workers, which start no further item once `stop` is requested.
    #[must_use]
    pub fn stopping_at(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// What stops them.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Workers for items that consist of items themselves: the first for the outer list, the second
    /// for every inner one. The inner lists share the threads, so a short one leaves none of them
    /// idle.
    pub fn nested(&self) -> (Self, Self) {
        let permits = Arc::new(Permits::new(self.jobs.count()));
        (Self { permits: None, ..self.clone() }, Self { permits: Some(permits), ..self.clone() })
    }

    /// Applies `work` to every item and returns the results in the order of the items, for any
    /// number of threads. `done(n)` is called on the calling thread after the n-th result.
    ///
    /// # Errors
    /// The work was stopped before its last item.
    pub fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> R + Sync,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<R>, Stopped> {
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let mut count = 0;
        self.each(items, work, |index, result| {
            results[index] = Some(result);
            count += 1;
            done(count);
        })?;
        Ok(results
            .into_iter()
            .map(|result| {
                result.expect("every item was worked on, or a worker's panic was passed on")
            })
            .collect())
    }

    /// Applies `work` to every item and starts the items in order. `take(index, result)` is called
    /// on the calling thread for each result, in the order of completion.
    ///
    /// # Errors
    /// The work was stopped before its last item; `take` has had the results of the items that were
    /// started.
    pub fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> R + Sync,
        take: impl FnMut(usize, R),
    ) -> Result<(), Stopped> {
        self.stream(items, |item, tell| tell(work(item)), take)
    }

    /// [`Workers::each`] for items that tell several results: `work` gives each to `tell`. One
    /// thread is the calling one.
    ///
    /// # Errors
    /// As [`Workers::each`].
    pub fn stream<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T, &dyn Fn(R)) + Sync,
        take: impl FnMut(usize, R),
    ) -> Result<(), Stopped> {
        let next = AtomicUsize::new(0);
        let goes_on = || next.load(Ordering::Relaxed) < items.len() && !self.stop.is_requested();
        let work_on_items = |tell: &dyn Fn(usize, R)| {
            while goes_on() {
                let permit = self.permits.as_ref().map(|permits| permits.take_while(goes_on));
                if permit.as_ref().is_some_and(Option::is_none) {
                    return;
                }
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return };
                work(item, &|result| tell(index, result));
            }
        };
        let threads = self.jobs.count().min(items.len());
        let take = RefCell::new(take);
        let take = |index, result| (take.borrow_mut())(index, result);
        if threads <= 1 {
            // Nothing to hand over: a thread of its own would cost more than a short item.
            work_on_items(&take);
        } else {
            thread::scope(|scope| {
                let (sender, receiver) = mpsc::channel();
                // Where no more threads can be made, those that there are do the work.
                let threads: Vec<_> = (0..threads)
                    .map_while(|_| {
                        let sender = sender.clone();
                        let work_on_items = &work_on_items;
                        // A receiver that is gone has panicked, and that panic is passed on.
                        let work = move || {
                            work_on_items(&|index, result| _ = sender.send((index, result)));
                        };
                        thread::Builder::new().spawn_scoped(scope, work).ok()
                    })
                    .collect();
                drop(sender);
                if threads.is_empty() {
                    work_on_items(&take);
                }
                for (index, result) in receiver {
                    take(index, result);
                }
                for thread in threads {
                    if let Err(panic) = thread.join() {
                        resume_unwind(panic);
                    }
                }
            });
        }
        if next.into_inner() < items.len() { Err(Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn workers(jobs: usize) -> Workers {
        Workers::from(Jobs::new(jobs).unwrap())
    }

    #[test]
    fn a_stop_lets_items_under_way_finish_and_starts_no_other() {
        for jobs in [1, 2, 5] {
            let stop = Stop::new();
            let items: Vec<usize> = (0..100).collect();
            let started = AtomicUsize::new(0);
            let mut taken = 0;
            let outcome = workers(jobs).stopping_at(&stop).each(
                &items,
                |_| {
                    let count = started.fetch_add(1, Ordering::Relaxed) + 1;
                    if count == 10 {
                        stop.request();
                    }
                    // The tenth may be held up before it asks: no later one ends before that.
                    while count > 10 && !stop.is_requested() {
                        std::thread::yield_now();
                    }
                },
                |_, ()| taken += 1,
            );
            assert_eq!(outcome, Err(Stopped));
            assert_eq!(taken, started.into_inner(), "what was started is finished");
            assert!((10..10 + jobs).contains(&taken), "{taken} with {jobs}");
        }
    }

    #[test]
    fn a_stop_after_the_last_item_was_started_changes_nothing() {
        let stop = Stop::new();
        let results = workers(2).stopping_at(&stop).map(
            &[1, 2, 3],
            |n| n * 2,
            |done| {
                if done == 3 {
                    stop.request();
                }
            },
        );
        assert_eq!(results, Ok(vec![2, 4, 6]));
        assert_eq!(workers(2).stopping_at(&stop).map(&[1], |n| n * 2, |_| ()), Err(Stopped));
    }

    #[test]
    fn lists_in_a_list_share_the_threads() {
        let (outer, inner) = workers(3).nested();
        let under_way = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let work = |n: &usize| {
            most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(300));
            under_way.fetch_sub(1, Ordering::SeqCst);
            *n
        };
        let lists: Vec<Vec<usize>> = (0..8).map(|k| (0..k).collect()).collect();
        let sums = outer.map(
            &lists,
            |list| inner.map(list, work, |_| ()).unwrap().iter().sum::<usize>(),
            |_| (),
        );
        assert_eq!(sums.unwrap(), [0, 0, 1, 3, 6, 10, 15, 21]);
        assert!((2..=3).contains(&most.into_inner()));
    }

    #[test]
    fn an_item_may_tell_several_results() {
        let mut told = vec![vec![]; 3];
        let work = |n: &usize, tell: &dyn Fn(usize)| (0..*n).for_each(tell);
        workers(2).stream(&[0, 1, 2], work, |index, result| told[index].push(result)).unwrap();
        assert_eq!(told, [vec![], vec![0], vec![0, 1]]);
    }
}
