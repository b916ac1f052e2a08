//! Merges the notes of all agents into one queue.
//!
//! ```text
//! link of hosta ── Uplink ── NoteSink ─┐
//!                                      ├─► one mailbox ──► Receiver
//! link of hostb ── Uplink ── NoteSink ─┘
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sokudo_model::{Batch, SeriesKey, Text, Unit};
use sokudo_wire::Note;

use crate::bus::MemberId;
use crate::mailbox::{Bound, Mailbox, Parcel, PopError, PushError};

/// Notes of all members that may wait for the controller.
const BUS_BOUND: Bound = Bound {
    count: 64 * 1024,
    bytes: 256 * 1024 * 1024,
};

/// Notes of one link that may wait until it is attached to a bus.
const EARLY_BOUND: Bound = Bound {
    count: 1024,
    bytes: 16 * 1024 * 1024,
};

impl Parcel for Note {
    fn weight(&self) -> usize {
        let content = match self {
            Note::Batch(batch) => batch_bytes(batch),
            Note::Rows(rows) => rows.bytes(),
            Note::Sent(json) => json.len(),
            Note::Problem { says, missing } => {
                256 + says.bytes() + missing.as_ref().map_or(0, Text::bytes)
            }
            Note::Lost { why } => 256 + why.bytes(),
            Note::Health(_) => 256,
        };
        size_of::<Note>() + content
    }

    fn must_arrive(&self) -> bool {
        !matches!(self, Note::Batch(_) | Note::Rows(_))
    }

    fn gap(dropped: u64) -> Self {
        Note::Problem {
            says: Text::new("engine-bus-notes-dropped").number("count", dropped as f64, Unit::One),
            missing: Some(Text::new("engine-bus-notes-dropped-missing").number(
                "count",
                dropped as f64,
                Unit::One,
            )),
        }
    }
}

/// Memory of a batch, bytes, roughly: what a string needs beside its bytes is guessed.
pub(crate) fn batch_bytes(batch: &Batch) -> usize {
    const KEY: usize = 256;
    let labels = |key: &SeriesKey| -> usize {
        let labels = key.labels.iter();
        labels.map(|(name, value)| name.len() + value.len()).sum()
    };
    let key =
        |key: &SeriesKey| KEY + key.host.len() + key.source.len() + key.metric.len() + labels(key);
    let series = batch.series.iter();
    let series: usize = series.map(|s| key(&s.key) + 16 * s.points.len()).sum();
    let histograms = batch.histograms.iter();
    let histograms: usize = histograms.map(|h| key(&h.key) + h.hdr_v2.len()).sum();
    let events = batch.events.iter();
    let events: usize = events
        .map(|e| KEY + e.host.len() + e.source.len() + e.kind.len() + e.says.bytes())
        .sum();
    series + histograms + events
}

/// The controller's receiver of notes. May be shared by threads; each note goes to one of them.
#[derive(Debug, Clone)]
pub struct Receiver {
    mailbox: Arc<Mailbox<MemberId, Note>>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self {
            mailbox: Arc::new(Mailbox::new(BUS_BOUND)),
        }
    }

    /// Waits for the next note, at most `bound`. Notes of one member come in their order.
    ///
    /// Errors: `Timeout`; `Disconnected` when the bus is closed and everything has been read.
    pub fn recv_timeout(&self, bound: Duration) -> Result<(MemberId, Note), RecvTimeoutError> {
        self.mailbox.pop(bound).map_err(|why| match why {
            PopError::Empty => RecvTimeoutError::Timeout,
            PopError::Closed => RecvTimeoutError::Disconnected,
        })
    }

    /// The next note if there is one.
    pub fn try_recv(&self) -> Result<(MemberId, Note), TryRecvError> {
        self.mailbox.pop(Duration::ZERO).map_err(|why| match why {
            PopError::Empty => TryRecvError::Empty,
            PopError::Closed => TryRecvError::Disconnected,
        })
    }

    /// Everything that is there now, without waiting.
    pub fn try_iter(&self) -> impl Iterator<Item = (MemberId, Note)> {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    /// Notes dropped so far because they were not read in time. Each gap has also been told by a
    /// [`Note::Problem`] of its member.
    pub fn dropped(&self) -> u64 {
        self.mailbox.dropped()
    }

    pub(crate) fn sink(&self, member: MemberId) -> NoteSink {
        NoteSink {
            member,
            mailbox: Arc::clone(&self.mailbox),
            ended: Arc::default(),
        }
    }

    pub(crate) fn close(&self) {
        self.mailbox.close();
    }
}

/// The sink to which a link passes the notes of its agent.
#[derive(Debug, Clone)]
pub struct NoteSink {
    member: MemberId,
    mailbox: Arc<Mailbox<MemberId, Note>>,
    ended: Arc<AtomicBool>,
}

impl NoteSink {
    /// Hands over a note. Never waits.
    ///
    /// Errors: `Full` is counted and reported later; `Gone` after `end`, `lost` or the bus's end.
    pub fn push(&self, note: Note) -> Result<(), PushError> {
        if self.ended.load(Ordering::Acquire) {
            return Err(PushError::Gone);
        }
        self.mailbox.push(self.member, note)
    }

    /// Reports that the connection has ended: the first call makes a [`Note::Lost`].
    pub fn lost(&self, why: Text) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            // A bus that is already closed needs no such news.
            let _ = self.mailbox.push(self.member, Note::Lost { why });
        }
    }

    /// The connection ends on purpose: nothing follows.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}

/// A link's own end of the way: keeps notes until a bus asks for them.
pub(crate) struct Uplink {
    state: Mutex<UplinkState>,
}

enum UplinkState {
    Early {
        notes: Mailbox<(), Note>,
        lost: Option<Text>,
    },
    Attached(NoteSink),
}

impl Default for Uplink {
    fn default() -> Self {
        Self {
            state: Mutex::new(UplinkState::Early {
                notes: Mailbox::new(EARLY_BOUND),
                lost: None,
            }),
        }
    }
}

impl Uplink {
    pub(crate) fn push(&self, note: Note) -> Result<(), PushError> {
        match &*self.state() {
            UplinkState::Early { notes, .. } => notes.push((), note),
            UplinkState::Attached(sink) => sink.push(note),
        }
    }

    pub(crate) fn attach(&self, sink: NoteSink) {
        let mut state = self.state();
        if let UplinkState::Early { notes, lost } = &*state {
            while let Ok(((), note)) = notes.pop(Duration::ZERO) {
                // Notes that do not fit are counted by the sink.
                let _ = sink.push(note);
            }
            if let Some(why) = lost {
                sink.lost(why.clone());
            }
        }
        *state = UplinkState::Attached(sink);
    }

    pub(crate) fn lost(&self, why: Text) {
        match &mut *self.state() {
            UplinkState::Early { notes, lost } => {
                notes.close();
                lost.get_or_insert(why);
            }
            UplinkState::Attached(sink) => sink.lost(why),
        }
    }

    pub(crate) fn end(&self) {
        match &*self.state() {
            UplinkState::Early { notes, .. } => notes.close(),
            UplinkState::Attached(sink) => sink.end(),
        }
    }

    fn state(&self) -> MutexGuard<'_, UplinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
