//! Shows a load on the terminal while it goes on.
//!
//! ```text
//! notes of the controller ─► Course (what is known so far) ─┬─► a few lines, drawn again and again
//!                                                           ├─► a line per interval (--interval)
//!                                                           └─► the full screen (--live)
//! ```
//!
//! [`course`], [`intervals`], [`status`] and [`panes`] are pure; [`screen`] holds the terminal.

pub mod course;
pub mod intervals;
pub mod panes;
pub mod screen;
pub mod status;

use clap::Args;

/// How a load is shown while it goes on.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct LiveArgs {
    /// Show the load on the whole terminal while it goes on: rate and latency over time, the
    /// distribution, errors, labels and hosts. Needs 100 columns and 30 lines.
    #[arg(long)]
    pub live: bool,
}

/// True when `--interval` was typed: each interval gets a line then.
pub fn wants_lines(words: &[String]) -> bool {
    let is_interval = |word: &String| word == "--interval" || word.starts_with("--interval=");
    words.iter().any(is_interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_where_an_interval_is_typed() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(wants_lines(&words("http x --interval 1s")));
        assert!(wants_lines(&words("http x --interval=1s")));
        assert!(!wants_lines(&words("http x --monitor cpu:interval=1s")));
    }
}
