//! The places of connections: who leaves when one more comes and all are taken.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

/// All places.
pub(crate) struct Seats {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    last: u64,
    by_age: BTreeMap<u64, Arc<PageSeat>>,
}

struct PageSeat {
    from: IpAddr,
    /// Requests that the guard has let pass and that are being answered.
    answering: AtomicUsize,
    gone: Notify,
}

/// One connection's place; free again when the last copy is dropped.
#[derive(Clone)]
pub(crate) struct Seat(Arc<Held>);

struct Held {
    seats: Arc<Seats>,
    number: u64,
    place: Arc<PageSeat>,
}

/// A request that is being answered: its connection is not in the way. An answer that is made holds no place any more,
/// however slowly it is read.
pub(crate) struct Answering(Arc<PageSeat>);

impl Seats {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            taken: Mutex::default(),
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection from there; the oldest that is not being answered may have to leave, of
    /// those from where most such wait. `None` when all are being answered.
    pub(crate) fn take(seats: &Arc<Self>, from: IpAddr) -> Option<Seat> {
        let mut taken = seats.taken();
        if taken.by_age.len() >= seats.most {
            let number = taken.in_the_way()?;
            let place = taken.by_age.remove(&number)?;
            place.gone.notify_one();
        }
        taken.last += 1;
        let number = taken.last;
        let place = Arc::new(PageSeat {
            from,
            answering: AtomicUsize::new(0),
            gone: Notify::new(),
        });
        taken.by_age.insert(number, Arc::clone(&place));
        Some(Seat(Arc::new(Held {
            seats: Arc::clone(seats),
            number,
            place,
        })))
    }
}

impl Taken {
    fn in_the_way(&self) -> Option<u64> {
        let is_idle = |place: &PageSeat| place.answering.load(Ordering::Relaxed) == 0;
        let idle = || self.by_age.iter().filter(|(_, place)| is_idle(place));
        let mut crowds: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (_, place) in idle() {
            *crowds.entry(place.from).or_default() += 1;
        }
        let (crowd, _) = crowds.into_iter().max_by_key(|(_, count)| *count)?;
        let mut oldest = idle().filter(|(_, place)| place.from == crowd);
        oldest.next().map(|(number, _)| *number)
    }
}

impl Seat {
    /// Waits until the place is given to somebody else.
    pub(crate) async fn taken_away(&self) {
        self.0.place.gone.notified().await;
    }

    /// Address of the connection.
    pub(crate) fn from(&self) -> IpAddr {
        self.0.place.from
    }

    /// Holds the place while a request is being answered.
    pub(crate) fn answering(&self) -> Answering {
        self.0.place.answering.fetch_add(1, Ordering::Relaxed);
        Answering(Arc::clone(&self.0.place))
    }

    /// The body of a request that is being answered: who is slow to send it holds no place meanwhile.
    pub(crate) fn arriving(&self, body: Body) -> Arriving {
        Arriving {
            body,
            place: Arc::clone(&self.0.place),
            is_awaited: false,
        }
    }
}

/// A body that arrives; while its sender is waited for, its connection is in the way.
pub(crate) struct Arriving {
    body: Body,
    place: Arc<PageSeat>,
    is_awaited: bool,
}

impl Arriving {
    fn set_awaited(&mut self, is_awaited: bool) {
        if std::mem::replace(&mut self.is_awaited, is_awaited) == is_awaited {
            return;
        }
        let answering = &self.place.answering;
        match is_awaited {
            true => answering.fetch_sub(1, Ordering::Relaxed),
            false => answering.fetch_add(1, Ordering::Relaxed),
        };
    }
}

impl hyper::body::Body for Arriving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.set_awaited(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.set_awaited(false);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.seats.taken().by_age.remove(&self.number);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn the_oldest_idle_one_of_the_largest_crowd_leaves() {
        let seats = Arc::new(Seats::new(3));
        let take = |last| Seats::take(&seats, from(last));
        let first = take(1).expect("a place");
        let crowd = [take(2).expect("a place"), take(2).expect("a place")];
        let numbers = || seats.taken().by_age.keys().copied().collect::<Vec<_>>();
        let one_more = take(3).expect("the older one of two leaves");
        assert_eq!(numbers(), [1, 3, 4]);
        let busy = [first.answering(), crowd[1].answering()];
        let another = take(4).expect("the idle one leaves");
        assert_eq!(numbers(), [1, 3, 5]);
        let also = another.answering();
        assert!(take(5).is_none(), "all are being answered");
        drop((busy, also, one_more, first));
        assert_eq!(numbers(), [3, 5]);
        assert!(take(5).is_some());
    }
}
