//! A conversation that outlives its connections.
//!
//! ```text
//! senders ──► kept until confirmed ──► writer of the connection of now
//! reader  ◄── source of the connection of now ── cut ──► a new one: the caller dials again
//! ```
//!
//! A host under full load loses its control connection more easily than its load. What one end has sent
//! and the other has not confirmed is kept, and sent again over the next connection; messages are counted,
//! so that none is lost and none comes twice. Bytes and time are bounded: a sender waits when too much is
//! unconfirmed, and a conversation that nobody takes up again ends.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sokudo_model::Text;
use sokudo_net::tls::Writer;
use sokudo_wire::mark::{ConversationId, Mark};

use super::dial::{Caller, NotBack};
use crate::pipe::{Arrival, FrameSender, FrameSource, TlsEnd, TlsSource, closed, own_close};

/// Bytes that may be sent and not confirmed.
const KEPT_BYTES: usize = 16 * 1024 * 1024;
/// Messages that may be sent and not confirmed.
const KEPT_COUNT: usize = 64 * 1024;
/// Bytes after which an end that has nothing to say confirms what it took.
const CONFIRM_BYTES: usize = 1024 * 1024;
/// Messages after which it does.
const CONFIRM_COUNT: u64 = 4096;
/// Longest time for a word that is not a message.
const WORD_BOUND: Duration = Duration::from_secs(5);
/// Longest time for the word that the end was meant.
const LEAVE_BOUND: Duration = Duration::from_millis(200);
/// A caller tries this long to reach the server again.
pub(super) const RESUME_BOUND: Duration = Duration::from_secs(15);
/// Longest single attempt.
const ATTEMPT_BOUND: Duration = Duration::from_secs(5);
/// Pause between two attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(250);

/// One end of a conversation.
pub(super) struct Lasting {
    id: ConversationId,
    /// Held while a message is counted and written, so that both happen in one order.
    sending: Mutex<()>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Number of the connection of now.
    connection: u64,
    /// `None` while there is no connection.
    writer: Option<Writer>,
    /// The source of a new connection, until the reading thread takes it.
    fresh: Option<TlsSource>,
    /// Messages that the other end has not confirmed.
    kept: VecDeque<Arc<[u8]>>,
    kept_bytes: usize,
    /// Messages that the other end has confirmed.
    confirmed: u64,
    /// Messages taken from the other end.
    taken: u64,
    /// Those of them, and their bytes, of which the other end was not told.
    untold: (u64, usize),
    /// Moment and reason of the cut of the connection.
    cut: Option<(Instant, Text)>,
    /// Reason of the conversation's end.
    closed: Option<Text>,
}

impl Lasting {
    /// A conversation over its first connection.
    pub(super) fn new(id: ConversationId, writer: Writer, source: TlsSource) -> Arc<Self> {
        let lasting = Self::without_connection(id);
        {
            let mut state = lasting.state();
            state.writer = Some(writer);
            state.fresh = Some(source);
        }
        lasting
    }

    /// A conversation that has no connection yet.
    pub(super) fn without_connection(id: ConversationId) -> Arc<Self> {
        Arc::new(Self {
            id,
            sending: Mutex::default(),
            state: Mutex::new(State {
                connection: 1,
                writer: None,
                fresh: None,
                kept: VecDeque::new(),
                kept_bytes: 0,
                confirmed: 0,
                taken: 0,
                untold: (0, 0),
                cut: None,
                closed: None,
            }),
            changed: Condvar::new(),
        })
    }

    pub(super) fn id(&self) -> &ConversationId {
        &self.id
    }

    /// Messages sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.state().sent()
    }

    /// Moment at which its connection was cut; `None` while it has one.
    pub(super) fn cut_at(&self) -> Option<Instant> {
        self.state().cut.as_ref().map(|(at, _)| *at)
    }

    /// Makes way for a new connection: its number, and the messages taken so far. What the present
    /// connection still brings is not taken any more: it comes again over the next one.
    pub(super) fn pause(&self) -> (u64, u64) {
        let mut state = self.state();
        state.connection += 1;
        if let Some(writer) = state.writer.take() {
            writer.close();
        }
        state.fresh = None;
        state
            .cut
            .get_or_insert_with(|| (Instant::now(), Text::new("error-link-replaced")));
        (state.connection, state.taken)
    }

    /// Goes on over a new connection, whose other end has taken so many messages: those after them are
    /// sent again. `connection` is the number from [`Lasting::pause`].
    ///
    /// Errors: the other end has taken messages that were never sent, or forgotten some; the conversation
    /// is over; another connection came meanwhile.
    pub(super) fn resume(
        &self,
        connection: u64,
        writer: &Writer,
        source: TlsSource,
        taken: u64,
    ) -> Result<(), Text> {
        {
            let mut state = self.state();
            state.expects(connection)?;
            let sent = state.sent();
            if !(state.confirmed..=sent).contains(&taken) {
                return Err(never_sent(taken, sent));
            }
            state.confirm(taken);
            // Read at once: the other end may be sending, too.
            state.fresh = Some(source);
            self.changed.notify_all();
        }
        let _turn = lock(&self.sending);
        for frame in self.unconfirmed() {
            writer.send(&frame, WORD_BOUND).map_err(|why| why.text())?;
        }
        let mut state = self.state();
        state.expects(connection)?;
        state.writer = Some(writer.clone());
        state.cut = None;
        self.changed.notify_all();
        Ok(())
    }

    /// The messages that are sent again, with the count of now.
    fn unconfirmed(&self) -> Vec<Arc<[u8]>> {
        self.state().kept.iter().cloned().collect()
    }

    /// Ends the conversation on purpose; the other end is told.
    pub(super) fn close(&self, why: Text) {
        let writer = {
            let mut state = self.state();
            state.closed.get_or_insert(why);
            self.changed.notify_all();
            state.writer.take()
        };
        let Some(writer) = writer else { return };
        // The thread that holds it is blocked in a send to an end that does not read.
        if let Ok(_turn) = self.sending.try_lock()
            && let Ok(frame) = Mark::Leave.to_frame()
        {
            // The other end also understands a connection that just ends.
            let _ = writer.send(&frame, LEAVE_BOUND);
        }
        writer.close();
    }

    /// The connection has ended without a word. Nothing happens when it is not the one of now.
    fn cut(&self, connection: u64, why: Text) {
        let mut state = self.state();
        if state.connection != connection {
            return;
        }
        if let Some(writer) = state.writer.take() {
            writer.close();
        }
        state.cut.get_or_insert_with(|| (Instant::now(), why));
        self.changed.notify_all();
    }

    /// Takes what a connection brought; `None` when that was not a message.
    ///
    /// Errors: the conversation is over, and why.
    pub(super) fn take(&self, connection: u64, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, Text> {
        let length = bytes.len();
        let mark = Mark::from_payload(bytes);
        let mut state = self.state();
        if state.connection != connection {
            return Ok(None);
        }
        let (taken, payload) = match mark {
            Some(Mark::Message { taken, payload }) => (taken, Some(payload)),
            Some(Mark::Taken(taken)) => (taken, None),
            Some(Mark::Leave) => return Err(closed()),
            Some(Mark::Begin(_) | Mark::Resume { .. } | Mark::Resumed { .. } | Mark::Unknown)
            | None => {
                return Err(Text::new("error-link-not-a-message").with("bytes", length));
            }
        };
        let sent = state.sent();
        if taken > sent {
            return Err(never_sent(taken, sent));
        }
        state.confirm(taken);
        self.changed.notify_all();
        if payload.is_some() {
            state.taken += 1;
            state.untold = (state.untold.0 + 1, state.untold.1 + length);
        }
        let (count, bytes) = state.untold;
        let told = (count > CONFIRM_COUNT || bytes > CONFIRM_BYTES).then(|| state.told());
        let writer = state.writer.clone().zip(told);
        drop(state);
        if let Some((writer, taken)) = writer
            && let Ok(frame) = Mark::Taken(taken).to_frame()
            && let Err(why) = writer.send(&frame, WORD_BOUND)
        {
            self.cut(connection, why.text());
        }
        Ok(payload)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits until the other end has confirmed something.
    fn wait_for_room(&self, deadline: Instant) -> Result<(), Text> {
        let left = deadline.saturating_duration_since(Instant::now());
        let full = |state: &mut State| state.closed.is_none() && !state.has_room();
        let waited = self.changed.wait_timeout_while(self.state(), left, full);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.closed {
            Some(why) => Err(why.clone()),
            None if waited.timed_out() => Err(Text::new("error-link-unconfirmed")),
            None => Ok(()),
        }
    }
}

impl State {
    /// Errors: the conversation is over, or another connection came meanwhile.
    fn expects(&self, connection: u64) -> Result<(), Text> {
        match &self.closed {
            Some(why) => Err(why.clone()),
            None if self.connection != connection => Err(Text::new("error-link-another")),
            None => Ok(()),
        }
    }

    /// Messages sent so far, confirmed or not.
    fn sent(&self) -> u64 {
        self.confirmed + self.kept.len() as u64
    }

    fn has_room(&self) -> bool {
        self.kept.is_empty() || self.kept_bytes < KEPT_BYTES && self.kept.len() < KEPT_COUNT
    }

    /// Forgets what the other end has taken.
    fn confirm(&mut self, taken: u64) {
        while self.confirmed < taken
            && let Some(frame) = self.kept.pop_front()
        {
            self.confirmed += 1;
            self.kept_bytes -= frame.len();
        }
    }

    /// The count of messages taken, which the other end is told now.
    fn told(&mut self) -> u64 {
        self.untold = (0, 0);
        self.taken
    }
}

impl FrameSender for Arc<Lasting> {
    /// A message is as good as sent once it is kept: should the connection be cut, it comes over the next.
    fn send(&self, frame: &[u8], bound: Duration) -> Result<(), Text> {
        let deadline = Instant::now() + bound;
        loop {
            let turn = lock(&self.sending);
            let mut state = self.state();
            if let Some(why) = &state.closed {
                return Err(why.clone());
            }
            if !state.has_room() {
                drop((state, turn));
                self.wait_for_room(deadline)?;
                continue;
            }
            let taken = state.told();
            let message = Mark::Message {
                taken,
                payload: frame[4..].to_vec(),
            };
            let marked: Arc<[u8]> = message.to_frame().map_err(|why| why.text())?.into();
            state.kept_bytes += marked.len();
            state.kept.push_back(Arc::clone(&marked));
            let (writer, connection) = (state.writer.clone(), state.connection);
            drop(state);
            if let Some(writer) = writer
                && let Err(why) = writer.send(&marked, bound)
            {
                self.cut(connection, why.text());
            }
            return Ok(());
        }
    }

    fn close(&self) {
        Lasting::close(self, own_close());
    }

    fn can_renew(&self) -> bool {
        true
    }

    fn renew(&self) {
        let connection = self.state().connection;
        self.cut(connection, Text::new("error-link-nothing-came"));
    }
}

/// Source of a conversation's next connection.
pub(super) enum Next {
    /// The caller makes it.
    Dial(Box<Caller>),
    /// The server waits for it, so long after the last one was cut.
    Wait(Duration),
}

/// The frames of a conversation; for the one thread that reads.
pub(super) struct LastingSource {
    lasting: Arc<Lasting>,
    current: Option<(u64, TlsSource)>,
    next: Next,
    renewals: u64,
}

impl LastingSource {
    pub(super) fn new(lasting: Arc<Lasting>, next: Next) -> Self {
        Self {
            lasting,
            current: None,
            next,
            renewals: 0,
        }
    }

    /// Waits at most `left` for the connection to go on with.
    ///
    /// Errors: the conversation is over.
    fn find(&mut self, left: Duration) -> Result<(), Text> {
        if let Some(found) = self.fresh()? {
            self.current = Some(found);
            return Ok(());
        }
        let Some((cut, why)) = self.lasting.state().cut.clone() else {
            return self.wait(left);
        };
        match &self.next {
            Next::Wait(keep) if cut.elapsed() >= *keep => Err(why),
            Next::Wait(keep) => self.wait(left.min(keep.saturating_sub(cut.elapsed()))),
            Next::Dial(caller) => {
                if cut.elapsed() >= RESUME_BOUND {
                    let seconds = RESUME_BOUND.as_secs();
                    return Err(Text::new("error-link-not-again")
                        .text("why", why)
                        .with("seconds", seconds));
                }
                match caller.come_back(&self.lasting, ATTEMPT_BOUND) {
                    Ok(()) => Ok(()),
                    Err(NotBack::Never(then)) => Err(Text::new("error-link-and-then")
                        .text("why", why)
                        .text("then", then)),
                    Err(NotBack::Yet) => self.wait(left.min(ATTEMPT_PAUSE)),
                }
            }
        }
    }

    /// The source of a new connection, with the number of the connection.
    fn fresh(&mut self) -> Result<Option<(u64, TlsSource)>, Text> {
        let mut state = self.lasting.state();
        if let Some(why) = &state.closed {
            return Err(why.clone());
        }
        let connection = state.connection;
        let fresh = state.fresh.take().map(|source| (connection, source));
        self.renewals += u64::from(fresh.is_some() && connection > 1);
        Ok(fresh)
    }

    /// Waits until something changes.
    fn wait(&self, left: Duration) -> Result<(), Text> {
        let nothing = |state: &mut State| state.fresh.is_none() && state.closed.is_none();
        let state = self.lasting.state();
        let waited = self
            .lasting
            .changed
            .wait_timeout_while(state, left, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl FrameSource for LastingSource {
    fn next(&mut self, bound: Duration) -> Result<Arrival, Text> {
        let begun = Instant::now();
        loop {
            let left = bound.saturating_sub(begun.elapsed());
            let Some((connection, source)) = &mut self.current else {
                self.find(left)?;
                if self.current.is_none() && begun.elapsed() >= bound {
                    return Ok(Arrival::Idle);
                }
                continue;
            };
            let connection = *connection;
            match source.next_or_end(left) {
                Ok(Arrival::Idle) => return Ok(Arrival::Idle),
                Ok(Arrival::Frame(bytes)) => {
                    if let Some(payload) = self.lasting.take(connection, bytes)? {
                        return Ok(Arrival::Frame(payload));
                    }
                }
                Err(TlsEnd::Nonsense(why)) => return Err(why),
                Err(TlsEnd::Cut(why)) => {
                    self.lasting.cut(connection, why);
                    self.current = None;
                }
            }
        }
    }

    fn keep(&self) -> Duration {
        match self.next {
            Next::Wait(keep) => keep,
            Next::Dial(_) => Duration::ZERO,
        }
    }

    fn renewals(&self) -> u64 {
        self.renewals
    }
}

/// The other end confirms messages that it was never sent.
fn never_sent(taken: u64, sent: u64) -> Text {
    Text::new("error-link-never-sent")
        .with("taken", taken)
        .with("sent", sent)
}

/// A holder that panicked leaves usable data: every change is complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
