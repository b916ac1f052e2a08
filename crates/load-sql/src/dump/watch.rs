//! Bounds of a dump or a restore: a time, and the wish to stop.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sokudo_sql::SqlError;
use tokio::runtime::Runtime;

use crate::db::block_on;

/// Time between two looks whether to stop, while a server is silent.
const LOOK: Duration = Duration::from_millis(50);

/// Bounds of each dump and each restore.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// Set when it is to stop.
    pub stop: &'a AtomicBool,
    /// Longest time of one of them.
    pub bound: Duration,
}

impl<'a> Limit<'a> {
    /// Begins one of them.
    pub(super) fn watch(self) -> Watch<'a> {
        Watch {
            limit: self,
            begun: Instant::now(),
        }
    }
}

/// The bounds of the one that goes on.
pub(super) struct Watch<'a> {
    limit: Limit<'a>,
    begun: Instant,
}

/// Error of a dump or a restore.
#[derive(Debug)]
pub(super) enum Wrong {
    /// It was to stop.
    Stopped,
    /// It took longer than it may.
    TooLong(Duration),
    /// A file or a process of this host.
    Io(io::Error),
    /// An engine whose files are not dumped.
    Engine,
    /// A program that is not installed, and the package that has it.
    Missing(&'static str, &'static str),
    /// A program that failed, with its words.
    Program(&'static str, String),
    /// The scratch database could not be made.
    Scratch(SqlError),
    /// The scratch database with this name could not be dropped.
    Left(String, SqlError),
    /// The database.
    Sql(SqlError),
}

impl Watch<'_> {
    /// True until it is to stop, or the time is over.
    pub(super) fn goes_on(&self) -> bool {
        !self.limit.stop.load(Ordering::Relaxed) && self.begun.elapsed() < self.limit.bound
    }

    /// Error for its end: a wish to stop, or the bound.
    pub(super) fn over(&self) -> Wrong {
        match self.limit.stop.load(Ordering::Relaxed) {
            true => Wrong::Stopped,
            false => Wrong::TooLong(self.limit.bound),
        }
    }

    /// Works on a database as long as it goes on.
    ///
    /// Errors: those of the database, and the end of it.
    pub(super) fn until<T>(
        &self,
        runtime: &Runtime,
        work: impl Future<Output = Result<T, SqlError>>,
    ) -> Result<T, Wrong> {
        block_on(runtime, async {
            let mut work = pin!(work);
            while self.goes_on() {
                match tokio::time::timeout(LOOK, &mut work).await {
                    // Work that looks itself ends with an error that says less.
                    Ok(Err(_)) if !self.goes_on() => break,
                    Ok(done) => return done.map_err(Wrong::Sql),
                    Err(_silent) => {}
                }
            }
            Err(self.over())
        })
    }
}
