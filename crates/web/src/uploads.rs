//! Bounds the memory of bodies that are being received.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bodies up to this many bytes are received in any number: there are as many as connections.
pub(crate) const SMALL_BYTES: usize = 64 << 10;
/// Larger bodies that are received at a time …
const LARGE_MAX: usize = 4;
/// … and of one address.
const LARGE_OF_ONE_MAX: usize = 3;

/// The large bodies that are being received, by address.
#[derive(Debug, Default)]
pub(crate) struct Uploads(Mutex<BTreeMap<IpAddr, usize>>);

/// A large body's place; free again when dropped.
#[derive(Debug)]
pub(crate) struct Upload {
    uploads: Arc<Uploads>,
    from: IpAddr,
}

impl Uploads {
    fn open(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a large body from there; `None` when all are taken.
    pub(crate) fn begin(uploads: &Arc<Self>, from: IpAddr) -> Option<Upload> {
        let mut open = uploads.open();
        let own = open.get(&from).copied().unwrap_or(0);
        if own >= LARGE_OF_ONE_MAX || open.values().sum::<usize>() >= LARGE_MAX {
            return None;
        }
        open.insert(from, own + 1);
        Some(Upload {
            uploads: Arc::clone(uploads),
            from,
        })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut open = self.uploads.open();
        if let Some(count) = open.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_leaves_a_place_to_others() {
        let uploads = Arc::new(Uploads::default());
        let [here, there]: [IpAddr; 2] = [[127, 0, 0, 1].into(), [192, 0, 2, 1].into()];
        let mut own: Vec<Upload> = (0..LARGE_OF_ONE_MAX)
            .map(|_| Uploads::begin(&uploads, here).expect("a place"))
            .collect();
        assert!(Uploads::begin(&uploads, here).is_none());
        let other = Uploads::begin(&uploads, there).expect("a place");
        assert!(Uploads::begin(&uploads, there).is_none());
        drop((own.pop(), other));
        assert!(Uploads::begin(&uploads, here).is_some());
        drop(own);
        assert!(uploads.open().is_empty());
    }
}
