//! Executes a script on a thread of its own, which is left behind when it does not end in time.
//!
//! ```text
//! the thread that carries the script out          the script's thread
//!    answers calls  ◄──────── name, argument ──────  engine
//!                   ──────── answer ──────────────►
//!    looks whether it must end; 1 s later it goes on without the script
//! ```
//!
//! The engine asks regularly whether it must end, but not within a regular expression with back
//! references or a loop of its own functions. Such a thread can do nothing more for the script: the next
//! call fails. It ends with its work or with the process, and few of them may exist.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// Time that a script has to end once it must.
const GRACE: Duration = Duration::from_secs(1);
/// Time between two looks whether it must.
const LOOK: Duration = Duration::from_millis(100);
/// Room beside the engine's own stack, bytes.
const STACK_MARGIN: usize = 3 << 20;
/// Threads left behind at a time.
const LEFT_MAX: usize = 4;

/// Threads that were left behind and have not ended.
static LEFT: AtomicUsize = AtomicUsize::new(0);

const RUNNING: u8 = 0;
const ENDED: u8 = 1;
const LEFT_BEHIND: u8 = 2;

/// A call of the script.
struct ScriptCall {
    name: String,
    argument: String,
    answer: SyncSender<String>,
}

/// The script's end of the calls.
pub struct Caller(Sender<ScriptCall>);

impl Caller {
    /// The answer to a call; `None` when no answer will come any more.
    pub fn call(&self, name: String, argument: String) -> Option<String> {
        let (answer, answered) = mpsc::sync_channel(1);
        let asked = ScriptCall {
            name,
            argument,
            answer,
        };
        self.0.send(asked).ok()?;
        answered.recv().ok()
    }
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// It had to end and did not.
    LeftBehind,
    /// Too many are left behind, or the system gives no thread.
    NoThread(String),
}

/// Counts a thread that was left behind until it has ended.
struct Present(Arc<AtomicU8>);

impl Drop for Present {
    fn drop(&mut self) {
        if self.0.swap(ENDED, Ordering::AcqRel) == LEFT_BEHIND {
            LEFT.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Watch over the time of a script.
pub trait Watch {
    /// The script computes no more: a call begins.
    fn pause(&self);
    /// It computes again.
    fn resume(&self);
    /// True when it must end.
    fn ends(&self) -> bool;
}

/// Executes `script`, whose engine takes `stack_bytes`, on a thread of its own and answers its calls here.
///
/// Errors: it did not end within 1 s after `watch` told it to, or there is no thread for it.
pub fn execute<T: Send + 'static>(
    watch: &impl Watch,
    stack_bytes: usize,
    script: impl FnOnce(Caller) -> T + Send + 'static,
    mut answer: impl FnMut(&str, &str) -> String,
) -> Result<T, NoEnd> {
    if LEFT.load(Ordering::Acquire) >= LEFT_MAX {
        return Err(NoEnd::NoThread(
            "scripts that were stopped are still computing".into(),
        ));
    }
    let state = Arc::new(AtomicU8::new(RUNNING));
    let (present, (calls, asked)) = (Present(Arc::clone(&state)), mpsc::channel());
    let thread = thread::Builder::new()
        .name("script".into())
        .stack_size(stack_bytes + STACK_MARGIN)
        .spawn(move || {
            let _present = present;
            script(Caller(calls))
        })
        .map_err(|error| NoEnd::NoThread(error.to_string()))?;
    let mut must_end: Option<Instant> = None;
    loop {
        match asked.recv_timeout(LOOK) {
            Ok(call) => {
                watch.pause();
                let answered = answer(&call.name, &call.argument);
                watch.resume();
                must_end = None;
                // A script that was ended meanwhile takes no answer.
                let _ = call.answer.send(answered);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if !watch.ends() => {}
            Err(RecvTimeoutError::Timeout) => {
                if must_end.get_or_insert_with(Instant::now).elapsed() < GRACE {
                    continue;
                }
                LEFT.fetch_add(1, Ordering::AcqRel);
                let left = state.compare_exchange(
                    RUNNING,
                    LEFT_BEHIND,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                );
                if left.is_err() {
                    LEFT.fetch_sub(1, Ordering::AcqRel);
                    break;
                }
                return Err(NoEnd::LeftBehind);
            }
        }
    }
    thread
        .join()
        .map_err(|_| NoEnd::NoThread("the engine failed".into()))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Ends scripts when it says so, and remembers what it was told.
    #[derive(Default)]
    struct Told {
        ends: bool,
        calls: Mutex<Vec<&'static str>>,
    }

    impl Watch for Told {
        fn pause(&self) {
            self.calls.lock().expect("not poisoned").push("pause");
        }
        fn resume(&self) {
            self.calls.lock().expect("not poisoned").push("resume");
        }
        fn ends(&self) -> bool {
            self.ends
        }
    }

    fn unasked(_: &str, _: &str) -> String {
        unreachable!("nothing is called")
    }

    #[test]
    fn calls_are_answered_while_the_watch_pauses() {
        let told = Told::default();
        let script = |caller: Caller| caller.call("add".into(), "1".into());
        let answered = execute(&told, 0, script, |name, argument| {
            told.calls.lock().expect("not poisoned").push("answer");
            format!("{name} {argument}")
        });
        assert_eq!(answered, Ok(Some("add 1".into())));
        let calls = told.calls.into_inner().expect("not poisoned");
        assert_eq!(calls, ["pause", "answer", "resume"]);
    }

    #[test]
    fn few_are_left_behind_and_those_that_end_make_room() {
        let must_end = Told {
            ends: true,
            ..Told::default()
        };
        let mut held = Vec::new();
        for _ in 0..LEFT_MAX {
            let (hold, released) = mpsc::channel::<()>();
            held.push(hold);
            let script = move |caller: Caller| {
                let _ = released.recv();
                assert_eq!(caller.call("late".into(), String::new()), None);
            };
            let ended = execute(&must_end, 0, script, unasked);
            assert_eq!(ended, Err(NoEnd::LeftBehind));
        }
        let refused = execute(&must_end, 0, |_| (), unasked);
        assert!(matches!(refused, Err(NoEnd::NoThread(_))), "{refused:?}");
        held.pop();
        let begun = Instant::now();
        while execute(&must_end, 0, |_| (), unasked) != Ok(()) {
            assert!(begun.elapsed() < Duration::from_secs(30), "no room");
            thread::yield_now();
        }
    }
}
