//! Offset of a host's clock from the controller's clock at one moment.

use serde::{Deserialize, Serialize};

/// One measurement of a host's monotonic clock against the controller's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// Time of the reading, on the controller's monotonic clock, nanoseconds.
    pub at_ns: i64,
    /// Host clock minus controller clock, nanoseconds.
    pub offset_ns: i64,
    /// The offset is right within this, nanoseconds; 0 when both are the same clock.
    pub error_ns: u64,
}

/// A host's clock around the load of a phase: between the two readings it is taken to drift evenly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostClock {
    /// Just before the load.
    pub before: ClockReading,
    /// Just after it.
    pub after: ClockReading,
}
