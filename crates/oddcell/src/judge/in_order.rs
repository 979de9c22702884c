//! Parallel work on a stream, with results in order.
//!
//! One thread reads ahead, the threads of the rayon pool work on whole items, and the results come in the order of the
//! items. Only a few items are in flight, so memory does not grow with the stream. The caller takes the results; if it
//! runs in the pool itself, it works on items while it waits.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel},
    thread,
    time::Duration,
};

/// How long an idle pool thread waits before it looks for work again.
const NAP: Duration = Duration::from_millis(1);

/// Applies `work` to every item of `source` and hands the results to `take`, in order. The first error, in the order of
/// the items, ends the stream.
pub(crate) fn in_order<T: Send, R: Send, E: Send>(
    source: impl Iterator<Item = Result<T, E>> + Send,
    work: impl Fn(T) -> Result<R, E> + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let n_threads = rayon::current_num_threads();
    if n_threads == 1 {
        return source.into_iter().try_for_each(|item| take(work(item?)?));
    }
    let work = &work;
    rayon::in_place_scope_fifo(|tasks| {
        thread::scope(|threads| {
            // The results in order. Two per thread wait here, so that the other threads have work while the taker, if it is
            // a pool thread, works on an item itself.
            let (queue, results) = sync_channel::<Receiver<Result<R, E>>>(2 * n_threads);
            threads.spawn(move || {
                for item in source {
                    let (sender, receiver) = sync_channel(1);
                    let failed = item.is_err();
                    // If the taker has given up, sending fails here and below; the taker has reported why.
                    match item {
                        Ok(item) => tasks.spawn_fifo(move |_| drop(sender.send(work(item)))),
                        Err(error) => drop(sender.send(Err(error))),
                    }
                    if queue.send(receiver).is_err() || failed {
                        break;
                    }
                }
            });
            while let Some(result) = next(&results) {
                take(next(&result).expect("every task answers")?)?;
            }
            Ok(())
        })
    })
}

/// Waits for the next value, and works for the pool meanwhile if this is one of its threads. `None` at the end.
fn next<T>(receiver: &Receiver<T>) -> Option<T> {
    loop {
        match receiver.try_recv() {
            Ok(value) => return Some(value),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => {}
            Some(rayon::Yield::Idle) => match receiver.recv_timeout(NAP) {
                Ok(value) => return Some(value),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            },
            None => return receiver.recv().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(n_threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap()
    }

    /// The squares of the items, or the error and what was taken before it.
    fn squares(items: Vec<Result<u64, String>>) -> (Vec<u64>, Result<(), String>) {
        let mut taken = Vec::new();
        let work = |item: u64| {
            // Later items finish first, so a wrong order would show.
            thread::sleep(Duration::from_micros(200 * (10 - item % 10)));
            if item == 77 { Err("77".to_owned()) } else { Ok(item * item) }
        };
        let result = in_order(items.into_iter(), work, |square| {
            taken.push(square);
            Ok(())
        });
        (taken, result)
    }

    #[test]
    fn results_leave_in_the_order_of_the_items_inside_and_outside_of_a_pool() {
        let expected: Vec<u64> = (0..50).map(|item| item * item).collect();
        for n_threads in [1, 2, 5] {
            let found = pool(n_threads).install(|| squares((0..50).map(Ok).collect()));
            assert_eq!(found, (expected.clone(), Ok(())));
        }
        assert_eq!(squares((0..50).map(Ok).collect()), (expected, Ok(())));
    }

    #[test] // Item 77 fails in `work`, the one after it in the source; only the items before it are taken.
    fn the_first_error_in_order_ends_the_stream() {
        let mut items: Vec<Result<u64, String>> = (70..90).map(Ok).collect();
        items[8] = Err("source".to_owned());
        for n_threads in [1, 3] {
            let (taken, result) = pool(n_threads).install(|| squares(items.clone()));
            assert_eq!(taken, (70..77).map(|item| item * item).collect::<Vec<_>>());
            assert_eq!(result, Err("77".to_owned()));
        }
    }

    #[test]
    fn a_taker_that_gives_up_ends_an_endless_source() {
        let mut taken = 0;
        let result = pool(2).install(|| {
            in_order((0u64..).map(Ok), Ok, |_| {
                taken += 1;
                if taken == 5 { Err("enough") } else { Ok(()) }
            })
        });
        assert_eq!((taken, result), (5, Err("enough")));
    }
}
