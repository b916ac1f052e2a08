//! How are names looked up without making a loop wait?
//!
//! One thread per loop, started when the first name is to be looked up: the system's resolver
//! blocks, and offers nothing else on every system.

use std::sync::Arc;
use std::sync::mpsc;

use crate::homes::Home;
use crate::post::{Letter, Sender};
use crate::target::Target;

/// A question: for which user and exchange, and about what.
struct Question {
    user: u32,
    exchange: u64,
    target: Arc<Target>,
}

/// A loop's way to the resolver.
pub(crate) struct Resolver<N> {
    answers: Sender<N>,
    home: Home,
    questions: Option<mpsc::Sender<Question>>,
}

impl<N: Send + 'static> Resolver<N> {
    /// Answers come as letters.
    pub(crate) fn new(answers: Sender<N>, home: Home) -> Self {
        Self {
            answers,
            home,
            questions: None,
        }
    }

    /// Asks; false when no thread can be started.
    pub(crate) fn ask(&mut self, user: u32, exchange: u64, target: Arc<Target>) -> bool {
        if self.questions.is_none() {
            self.questions = start(self.answers.clone(), self.home);
        }
        let question = Question {
            user,
            exchange,
            target,
        };
        let questions = self.questions.as_ref();
        questions.is_some_and(|questions| questions.send(question).is_ok())
    }
}

/// The thread ends when its loop has: it is not waited for, a resolver may take half a minute.
fn start<N: Send + 'static>(answers: Sender<N>, home: Home) -> Option<mpsc::Sender<Question>> {
    let (sender, questions) = mpsc::channel::<Question>();
    let resolve = move || {
        home.leave();
        for question in questions {
            answers.send(Letter::Resolved {
                user: question.user,
                exchange: question.exchange,
                found: question.target.resolve().is_ok(),
            });
        }
    };
    let thread = std::thread::Builder::new().name("resolve".into());
    thread.spawn(resolve).ok().map(|_| sender)
}
