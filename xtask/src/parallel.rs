//! Several things at once.

use std::sync::{Mutex, mpsc};
use std::thread;

/// Works on every item, at most `at_once` side by side, and tells of each as it is done. The results stand in the order of the
/// items.
pub(crate) fn each<T: Send, R: Send>(
    items: Vec<T>,
    at_once: usize,
    work: impl Fn(T) -> R + Sync,
    mut done: impl FnMut(&R),
) -> Vec<R> {
    let waiting = Mutex::new(items.into_iter().enumerate());
    let (sender, finished) = mpsc::channel();
    let mut results = Vec::new();
    thread::scope(|scope| {
        for _ in 0..at_once.max(1) {
            let (waiting, sender, work) = (&waiting, sender.clone(), &work);
            scope.spawn(move || {
                // A poisoned lock means that the other thread panicked, which the scope passes on.
                while let Some((place, item)) = waiting.lock().ok().and_then(|mut items| items.next()) {
                    let _ = sender.send((place, work(item)));
                }
            });
        }
        drop(sender);
        for (place, result) in finished {
            done(&result);
            results.push((place, result));
        }
    });
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_the_results_keep_the_order() {
        let mut told = Vec::new();
        let results = each((0..50).collect(), 2, |number: u32| number * 2, |result| told.push(*result));
        assert_eq!(results, (0..50).map(|number| number * 2).collect::<Vec<_>>());
        told.sort_unstable();
        assert_eq!(told, results);
    }
}
