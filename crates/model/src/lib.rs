//! Plain data that every other crate shares: units, identifiers, metrics, kinds of load, series,
//! histograms, events, findings, the environment, and the manifest that ties one run together.
//! Nothing here opens a file or a socket, reads a clock, or starts a thread.

pub mod advice;
pub mod bounds;
pub mod clock;
pub mod document;
pub mod environment;
pub mod expect;
pub mod finding;
pub mod harmless;
pub mod kinds;
pub mod manifest;
pub mod metric;
pub mod metrics;
pub mod observe;
pub mod pairs;
pub mod plan;
pub mod proof;
pub mod record;
pub mod rows;
pub mod secrets;
pub mod series;
pub mod settings;
pub mod skew;
pub mod spec;
pub mod spent;
pub mod statements;
pub mod steer;
pub mod summary;
pub mod text;
pub mod units;

pub use bounds::{Bound, Bounds, NoBound};
pub use clock::{ClockReading, HostClock};
pub use environment::{Environment, Fact};
pub use expect::{Expectation, NoExpectation};
pub use finding::{Check, Demand, Evidence, Finding, Severity};
pub use harmless::{cut, harmless, harmless_lines};
pub use kinds::{CurveMetrics, Kind};
pub use manifest::{HostEntry, Manifest, PhaseRecord, Problem, RunId, RunStatus};
pub use metric::{Fold, Metric, MetricKind, Stat, Unit};
pub use observe::{MonitorSpec, On};
pub use plan::{FlowPlan, PhasePlan, Plan, Refusal};
pub use record::Record;
pub use rows::Rows;
pub use series::{
    Batch, Event, HistogramInterval, Labels, REACH_NS, Series, SeriesKey, is_within_reach,
};
pub use spec::{HostSpec, PhaseSpec};
pub use spent::{Moments, Spent};
pub use steer::Change;
pub use summary::{FlowResult, HistogramSummary, PhaseResult, Summary};
pub use text::{Arg, Text};
pub use units::{Bytes, Count, Nanos, Rate};
