//! Built without RDMA, or for a system without it.

use super::RdmaError;

/// An opened device; there is none.
#[derive(Debug)]
pub enum Endpoint {}

impl Endpoint {
    /// Opens the first device.
    ///
    /// Errors: [`RdmaError::NotBuilt`], always.
    pub fn open_first() -> Result<Self, RdmaError> {
        Err(RdmaError::NotBuilt)
    }

    /// Its name.
    pub fn device(&self) -> &str {
        match *self {}
    }
}

/// Names of this host's devices.
///
/// Errors: [`RdmaError::NotBuilt`], always.
pub fn devices() -> Result<Vec<String>, RdmaError> {
    Err(RdmaError::NotBuilt)
}
