//! Records that a measuring thread hands over at the end of each interval and gets back empty.
//!
//! ```text
//! measuring thread ─── full record ──► reporting thread
//!         ▲                                  │ clears it
//!         └────────── empty record ──────────┘
//! ```
//!
//! A measuring thread has two records: it writes one while the reporting thread reads the other.
//! Handing over neither allocates nor waits. While the other record is away, the thread goes on
//! writing the same one.

use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// A record that can be used again.
pub trait Reusable {
    /// Forgets what was recorded and keeps the memory.
    fn clear(&mut self);
}

/// A full record on its way to the reporting thread. Dropping it clears it and sends it back.
#[derive(Debug)]
pub struct Lent<T: Reusable> {
    record: Option<Box<T>>,
    back: SyncSender<Box<T>>,
}

impl<T: Reusable> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.record.as_ref().expect("it leaves only when dropped")
    }
}

impl<T: Reusable> Drop for Lent<T> {
    fn drop(&mut self) {
        if let Some(mut record) = self.record.take() {
            record.clear();
            // Fails only when its measuring thread has ended.
            let _ = self.back.try_send(record);
        }
    }
}

/// The two records of a measuring thread; it writes to the one that this dereferences to.
pub struct Records<T: Reusable> {
    current: Box<T>,
    empty: Receiver<Box<T>>,
    back: SyncSender<Box<T>>,
}

impl<T: Reusable> Records<T> {
    /// Two records, which `make` prepares so that writing to them need not allocate.
    pub fn new(mut make: impl FnMut() -> T) -> Self {
        let (back, empty) = sync_channel(2);
        // There is room for both.
        let _ = back.try_send(Box::new(make()));
        Self {
            current: Box::new(make()),
            empty,
            back,
        }
    }

    /// Hands the current record over, as the report that `wrap` makes of it; `unwrap` takes it out
    /// again when the queue of reports is full.
    ///
    /// False when nothing was handed over: the other record is not back yet, or the queue is full.
    pub fn hand_over<R>(
        &mut self,
        reports: &SyncSender<R>,
        wrap: impl FnOnce(Lent<T>) -> R,
        unwrap: impl FnOnce(R) -> Option<Lent<T>>,
    ) -> bool {
        let Ok(empty) = self.empty.try_recv() else {
            return false;
        };
        let full = std::mem::replace(&mut self.current, empty);
        match reports.try_send(wrap(self.lent(full))) {
            // Without a reader the record comes back when it is dropped.
            Ok(()) | Err(TrySendError::Disconnected(_)) => true,
            Err(TrySendError::Full(report)) => {
                if let Some(full) = unwrap(report).and_then(|mut lent| lent.record.take()) {
                    let empty = std::mem::replace(&mut self.current, full);
                    let _ = self.back.try_send(empty);
                }
                false
            }
        }
    }

    /// The last record, at the end of the thread.
    pub fn last(self) -> Lent<T> {
        Lent {
            record: Some(self.current),
            back: self.back,
        }
    }

    fn lent(&self, record: Box<T>) -> Lent<T> {
        Lent {
            record: Some(record),
            back: self.back.clone(),
        }
    }
}

impl<T: Reusable> Deref for Records<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.current
    }
}

impl<T: Reusable> DerefMut for Records<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Events(Vec<u32>);

    impl Reusable for Events {
        fn clear(&mut self) {
            self.0.clear();
        }
    }

    fn hand_over(records: &mut Records<Events>, to: &SyncSender<Lent<Events>>) -> bool {
        records.hand_over(to, |lent| lent, Some)
    }

    #[test]
    fn what_was_not_handed_over_is_in_the_next_record() {
        let (to, queue) = sync_channel(4);
        let mut records = Records::new(Events::default);
        records.0.push(1);
        assert!(hand_over(&mut records, &to));
        records.0.push(2);
        assert!(!hand_over(&mut records, &to), "the other one is away");
        records.0.push(3);
        let first = queue.try_recv().expect("a record");
        assert_eq!(first.0, [1]);
        drop(first);
        assert!(hand_over(&mut records, &to));
        assert_eq!(queue.try_recv().expect("a record").0, [2, 3]);
        assert!(records.0.is_empty(), "it came back empty");
    }

    #[test]
    fn a_full_queue_loses_nothing() {
        let (to, queue) = sync_channel(1);
        let mut other = Records::new(Events::default);
        assert!(hand_over(&mut other, &to));
        let mut records = Records::new(Events::default);
        records.0.push(1);
        assert!(!hand_over(&mut records, &to));
        records.0.push(2);
        drop(queue.try_recv());
        assert!(hand_over(&mut records, &to));
        assert_eq!(queue.try_recv().expect("a record").0, [1, 2]);
        records.0.push(3);
        assert_eq!(records.last().0, [3]);
    }
}
