//! Streams the feed to a page as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast};

use crate::feed::{Feed, Frame};
use crate::seats::Answering;

/// Interval of keep-alive comments, so that both ends notice when the other is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// One page that listens.
struct PageListener {
    feed: Feed,
    next: Option<Arc<Frame>>,
    frames: broadcast::Receiver<Arc<Frame>>,
    /// Its place among the pages that may listen, and that of its connection.
    _places: (OwnedSemaphorePermit, Answering),
}

/// The stream of events of one page, from a snapshot on.
pub(crate) fn listen(feed: Feed, places: (OwnedSemaphorePermit, Answering)) -> impl IntoResponse {
    let (snapshot, frames) = feed.subscribe();
    let listener = PageListener {
        feed,
        next: Some(snapshot),
        frames,
        _places: places,
    };
    Sse::new(events(listener)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

fn events(listener: PageListener) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(listener, |mut listener| async move {
        let frame = match listener.next.take() {
            Some(snapshot) => snapshot,
            None => match listener.frames.recv().await {
                Ok(frame) => frame,
                // The page reads too slowly: it begins again from a snapshot.
                Err(RecvError::Lagged(_)) => {
                    let (snapshot, frames) = listener.feed.subscribe();
                    listener.frames = frames;
                    snapshot
                }
                Err(RecvError::Closed) => return None,
            },
        };
        let event = Event::default().event(frame.event).data(&frame.data);
        Some((Ok(event), listener))
    })
}
