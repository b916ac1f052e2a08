//! Rate-limited log lines of a server, so that a flood of connections does not flood the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sokudo_model::Text;

use super::Log;

/// Lines per window; the next window reports how many more there were.
const LINES: u32 = 20;
const WINDOW: Duration = Duration::from_secs(10);

/// Longest word in a line, characters: words come from callers.
const LONGEST: usize = 240;

/// Passes lines on, bounded in length and number.
pub struct LineLog {
    log: Option<Log>,
    window: Mutex<Window>,
}

struct Window {
    begun: Instant,
    lines: u32,
}

impl LineLog {
    /// Passes lines on to `log`; without one they are only counted.
    pub fn new(log: Option<Log>) -> Self {
        let begun = Instant::now();
        Self {
            log,
            window: Mutex::new(Window { begun, lines: 0 }),
        }
    }

    /// Writes one line, unless there have been too many.
    pub fn say(&self, line: Text) {
        let Some(log) = &self.log else { return };
        let (allowed, skipped) = self.count_now();
        if skipped > 0 {
            log(&Text::new("log-left-out").with("count", skipped));
        }
        if allowed {
            log(&line.within(LONGEST));
        }
    }

    /// Counts a line that the caller writes itself; returns whether it may be written, and how many
    /// lines of the window before were dropped.
    pub fn count_now(&self) -> (bool, u32) {
        self.count(Instant::now())
    }

    /// Whether this line may pass, and how many of the window before were dropped.
    fn count(&self, now: Instant) -> (bool, u32) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let mut skipped = 0;
        if now.saturating_duration_since(window.begun) >= WINDOW {
            skipped = window.lines.saturating_sub(LINES);
            *window = Window {
                begun: now,
                lines: 0,
            };
        }
        window.lines = window.lines.saturating_add(1);
        (window.lines <= LINES, skipped)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use sokudo_i18n::english;

    use super::*;

    #[test]
    fn a_flood_becomes_few_short_lines() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log: Log = Arc::new(move |line| kept.lock().unwrap().push(english(line)));
        let log = LineLog::new(Some(log));
        let line = Text::words("\x1b[2Jx".repeat(1000));
        (0..1000).for_each(|_| log.say(line.clone()));
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), LINES as usize);
        let length = |line: &String| line.chars().count();
        assert!(lines.iter().all(|line| length(line) == LONGEST));
        assert!(lines.iter().all(|line| !line.contains('\x1b')));
    }

    #[test]
    fn the_next_window_says_how_many_were_left_out() {
        let log = LineLog::new(None);
        let begun = Instant::now();
        (0..LINES + 7).for_each(|_| {
            log.count(begun);
        });
        assert_eq!(log.count(begun + 2 * WINDOW), (true, 7));
    }
}
