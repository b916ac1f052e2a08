//! Substitute for builds without the feature `rdma` and for systems without RDMA.

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
