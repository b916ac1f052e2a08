//! Requests to web servers as a JMeter plan describes them (`jmx`). Its numbers are those of [`http`].

use super::{Expects, Kind, Reach, http};

/// The kind.
pub const KIND: Kind = Kind {
    name: "jmx",
    question: "what do the users of a test plan see of a web server?",
    // A plan names its servers itself, reads data files and writes results.
    reach: &[Reach::Strangers, Reach::Files],
    expects: Expects {
        line_rate: None,
        latency: false,
        loss: false,
        errors: false,
    },
    pair_figures: &[],
    is_plan: true,
    takes_turns: false,
    options: &["max-inflight", "model", "threads"],
    ..http::KIND
};
