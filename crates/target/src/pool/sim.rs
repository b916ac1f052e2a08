//! A database that does nothing: its connections are only counted and held.

use super::database::{Database, Session, Statement};

/// The database.
pub(super) struct Sim;

/// A connection to it; needs no memory.
pub(super) struct SimSession;

impl Database for Sim {
    fn session(&self) -> Result<Box<dyn Session>, String> {
        Ok(Box::new(SimSession))
    }
}

impl Session for SimSession {
    fn execute(&mut self, _: Statement) -> Result<(), String> {
        Ok(())
    }
}
