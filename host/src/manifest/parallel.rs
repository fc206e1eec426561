//! The same pure function for many parts of the input, on all processors, and one on a stack that is deep enough. The order of the
//! results is that of the parts.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Parts that together have fewer bytes are not worth a thread.
const WORTH_A_THREAD: usize = 256 << 10;

/// Most threads.
const MAX_THREADS: usize = 8;

/// Enough for values nested as deeply as the parsers allow, in builds without optimisation too.
const STACK_BYTES: usize = 8 << 20;

/// Applies `each` to every part. `bytes` says how much work a part is.
pub(super) fn map<T: Send, R: Send>(
    parts: Vec<T>,
    bytes: impl Fn(&T) -> usize,
    each: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let total: usize = parts.iter().map(&bytes).sum();
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(MAX_THREADS).min(total / WORTH_A_THREAD + 1);
    if threads < 2 {
        return parts.into_iter().map(each).collect();
    }
    let shares: Vec<Mutex<Vec<T>>> = share(parts, bytes, total.div_ceil(threads))
        .into_iter()
        .map(Mutex::new)
        .collect();
    let work = |share: &Mutex<Vec<T>>| {
        let parts = std::mem::take(&mut *share.lock().unwrap_or_else(PoisonError::into_inner));
        parts.into_iter().map(&each).collect::<Vec<R>>()
    };
    let work = &work;
    thread::scope(|scope| {
        let start = |share| {
            let thread = thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || work(share));
            (share, thread)
        };
        let running: Vec<_> = shares.iter().map(start).collect();
        let finish =
            |(share, thread): (_, std::io::Result<thread::ScopedJoinHandle<'_, Vec<R>>>)| {
                match thread {
                    Ok(thread) => thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                    // No more threads to be had.
                    Err(_) => work(share),
                }
            };
        running.into_iter().flat_map(finish).collect()
    })
}

/// Calls a function where the stack is deep enough for it, whoever asks.
pub(super) fn on_deep_stack<R: Send>(work: impl Fn() -> R + Sync) -> R {
    let work = &work;
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work);
        match thread {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // No more threads to be had.
            Err(_) => work(),
        }
    })
}

/// Cuts the parts into runs of about `size` bytes.
fn share<T>(parts: Vec<T>, bytes: impl Fn(&T) -> usize, size: usize) -> Vec<Vec<T>> {
    let mut shares = vec![Vec::new()];
    let mut filled = 0;
    for part in parts {
        if filled >= size {
            shares.push(Vec::new());
            filled = 0;
        }
        filled += bytes(&part);
        if let Some(last) = shares.last_mut() {
            last.push(part);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_parts() {
        let parts: Vec<usize> = (0..1000).collect();
        let doubled: Vec<usize> = parts.iter().map(|part| part * 2).collect();
        assert_eq!(map(parts.clone(), |_| 10_000, |part| part * 2), doubled);
        assert_eq!(map(parts, |_| 1, |part| part * 2), doubled);
        assert!(map(Vec::<usize>::new(), |_| 1, |part| part).is_empty());
    }

    #[test]
    fn shares_have_about_the_same_size() {
        assert_eq!(
            share(vec![1, 9, 1, 1, 8, 20, 1], |part| *part, 10),
            [vec![1, 9], vec![1, 1, 8], vec![20], vec![1]]
        );
    }
}
