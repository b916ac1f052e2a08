//! Had the sending thread no CPU time left?
//!
//! A thread that uses a whole core and never waits for room to write into would send more if it
//! could compute more; the far end shows the other side of it: it waits for data.

use sokudo_model::Finding;

use crate::quantities::ends::{End, Load};
use crate::rule::thread_limit;
use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// See the module.
pub struct SenderCpuLimited;

impl Rule for SenderCpuLimited {
    fn name(&self) -> &'static str {
        "sender_cpu_limited"
    }

    fn question(&self) -> &'static str {
        "had the sending thread no CPU time left?"
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let load = Load::of(*view);
        out.extend(load.and_then(|load| {
            load.strongest(|flow| thread_limit::conclude(&load, flow, End::Sender, self.name()))
        }));
    }
}
