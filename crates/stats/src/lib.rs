//! Statistics: functions that reduce many numbers to few.
//!
//! Mergeable histograms, the spread of a few repeated trials, the curve of a sweep with its knee, and the
//! search for the highest rate that a system holds. Nothing here opens a file, reads a clock or
//! starts a thread.

pub mod capacity;
pub mod compare;
pub mod curve;
pub mod fairness;
mod histogram;
pub mod interval;
pub mod interval_log;
pub mod knee;
pub mod repeats;
pub mod requests;
pub mod rrul;
pub mod search;
pub mod spread;
pub mod versus;
pub mod warm_up;

pub use curve::{Curve, CurveStep, Knee, Sign, curve_of};
pub use fairness::fairness;
pub use histogram::{Bucket, Histogram, HistogramError};
pub use interval::Interval;
pub use repeats::{Answer, Repeats, answer_of, repeats_of};
pub use search::{Best, First, Limit, Outcome, Purpose, RateSearch, RateSearchConfig, SearchStep};
pub use spread::{Spread, spread};
