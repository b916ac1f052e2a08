//! Holds the whole terminal while a phase goes on: draws, and takes keys.

use std::io::Stderr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::SIGINT;
use sokudo_i18n::{I18n, Lang};

use super::course::PhaseCourse;
use super::panes::{SMALLEST, draw};

/// Time between two pictures.
const FRAME: Duration = Duration::from_millis(200);

/// A phase's course, which the terminal's thread reads and the controller's writes.
pub type SharedPhase = Arc<Mutex<PhaseCourse>>;

/// The course, also after a panic of the other thread.
pub fn lock(course: &SharedPhase) -> MutexGuard<'_, PhaseCourse> {
    course.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal while it is held. Dropping it gives it back.
pub struct Screen {
    over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

/// True where the terminal is large enough.
pub fn is_large_enough((columns, lines): (u16, u16)) -> bool {
    columns >= SMALLEST.0 && lines >= SMALLEST.1
}

impl Screen {
    /// Takes the terminal.
    ///
    /// Errors: it cannot be switched, or no thread can be started.
    pub fn open(course: &SharedPhase, lang: Lang, title: String) -> std::io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let held = Held::take()?;
        let (course, is_over) = (Arc::clone(course), Arc::clone(&over));
        let drawing = std::thread::Builder::new()
            .name("sokudo-screen".into())
            .spawn(move || show(held, &course, &is_over, &I18n::new(lang), &title))?;
        Ok(Self {
            over,
            drawing: Some(drawing),
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(drawing) = self.drawing.take() {
            // A thread that panicked has given the terminal back on its way.
            let _ = drawing.join();
        }
    }
}

/// The terminal in raw mode with its other screen.
struct Held(Terminal<CrosstermBackend<Stderr>>);

impl Held {
    fn take() -> std::io::Result<Self> {
        enable_raw_mode()?;
        let mut stderr = std::io::stderr();
        let switched = execute!(stderr, EnterAlternateScreen);
        let terminal = switched.and_then(|()| Terminal::new(CrosstermBackend::new(stderr)));
        if terminal.is_err() {
            let _ = disable_raw_mode();
        }
        terminal.map(Self)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A terminal that is gone takes nothing back.
        let _ = execute!(std::io::stderr(), LeaveAlternateScreen);
        let _ = self.0.show_cursor();
        let _ = disable_raw_mode();
    }
}

fn show(mut held: Held, course: &SharedPhase, over: &AtomicBool, i18n: &I18n, title: &str) {
    let mut asked = false;
    while !over.load(Ordering::Relaxed) {
        let drawn = held.0.draw(|frame| draw(frame, &lock(course), i18n, title));
        if drawn.is_err() {
            return;
        }
        if !matches!(event::poll(FRAME), Ok(true)) {
            continue;
        }
        let Ok(Event::Key(key)) = event::read() else {
            continue;
        };
        let is_ctrl_c =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if !is_ctrl_c && key.code != KeyCode::Char('q') {
            continue;
        }
        if asked {
            // The second time the program ends at once: the terminal must have been given back.
            drop(held);
            let _ = signal_hook::low_level::raise(SIGINT);
            return;
        }
        asked = true;
        let _ = signal_hook::low_level::raise(SIGINT);
    }
}
