//! Resolves names on separate threads, so that no event loop blocks.
//!
//! The threads are started on demand. They are needed because the system's resolver blocks and has no
//! other interface on every system. One per loop is enough for names that are resolved once for all
//! users; where each user resolves names itself, there are more, so that one name server that does not
//! answer does not delay all of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use sokudo_net::clock::now_ns;

use crate::homes::Home;
use crate::post::{Letter, Sender, Whereabouts};
use crate::target::Target;

/// Most threads beside one loop.
const MOST_THREADS: usize = 16;

/// The user and exchange that a query belongs to.
pub(crate) struct Question {
    /// The user that asks.
    pub(crate) user: u32,
    /// For which of its exchanges.
    pub(crate) exchange: u64,
    /// About what.
    pub(crate) target: Arc<Target>,
    /// The answer is for this user alone; otherwise for all users.
    pub(crate) for_itself: bool,
    /// The answer is not needed after this moment.
    pub(crate) until_ns: i64,
}

/// A loop's way to its resolving threads.
pub(crate) struct Resolver<N> {
    answers: Sender<N>,
    home: Home,
    threads: usize,
    questions: mpsc::Sender<Question>,
    asked: Arc<ResolverQueue>,
}

/// State that the threads of one loop share.
struct ResolverQueue {
    questions: Mutex<mpsc::Receiver<Question>>,
    /// Questions that wait or are being answered.
    open: AtomicUsize,
}

impl<N: Send + 'static> Resolver<N> {
    /// Answers come as letters.
    pub(crate) fn new(answers: Sender<N>, home: Home) -> Self {
        let (questions, receiver) = mpsc::channel();
        let asked = ResolverQueue {
            questions: Mutex::new(receiver),
            open: AtomicUsize::new(0),
        };
        Self {
            answers,
            home,
            threads: 0,
            questions,
            asked: Arc::new(asked),
        }
    }

    /// Asks; false when there is no thread to do it.
    pub(crate) fn ask(&mut self, question: Question) -> bool {
        let open = self.asked.open.fetch_add(1, Ordering::Relaxed) + 1;
        let most = if question.for_itself { MOST_THREADS } else { 1 };
        if self.threads < open.min(most) && self.start() {
            self.threads += 1;
        }
        self.threads > 0 && self.questions.send(question).is_ok()
    }

    /// The thread ends when its loop has: it is not waited for, a resolver may take half a minute.
    fn start(&self) -> bool {
        let (answers, home) = (self.answers.clone(), self.home);
        let asked = Arc::clone(&self.asked);
        let resolve = move || {
            home.leave();
            while let Some(question) = asked.next() {
                answers.send(Letter::Resolved {
                    user: question.user,
                    exchange: question.exchange,
                    found: question.answer(),
                });
                asked.open.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let thread = std::thread::Builder::new().name("resolve".into());
        thread.spawn(resolve).is_ok()
    }
}

impl ResolverQueue {
    fn next(&self) -> Option<Question> {
        let questions = self.questions.lock();
        questions
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
            .ok()
    }
}

impl Question {
    fn answer(&self) -> Whereabouts {
        // Its user has given up: there are others to be answered.
        if self.until_ns <= now_ns() {
            return Whereabouts::Unknown;
        }
        let found = match self.for_itself {
            true => self
                .target
                .look_up(self.until_ns)
                .map(|found| Whereabouts::Own(Arc::new(found))),
            false => self.target.resolve().map(|_| Whereabouts::Known),
        };
        found.unwrap_or(Whereabouts::Unknown)
    }
}
