//! The part of a policy about the reach of loads: hosts of the run, other servers, files, devices.
//!
//! A kind of load says what it reaches ([`Kind::reach`]). The policy grants the hosts of a run; everything
//! else must be named, so that a kind which comes later is closed until the owner opens it.

use sokudo_model::kinds::Reach;
use sokudo_model::{Kind, PhaseSpec, Refusal, Text};

use super::{Policy, refuse};

/// Reads `reach` of a policy file; the hosts of a run where it names nothing.
pub(super) fn read(written: Option<Vec<String>>) -> Result<Vec<Reach>, String> {
    let Some(written) = written else {
        return Ok(vec![Reach::Hosts]);
    };
    let one = |name: &String| {
        let known = || Reach::ALL.map(Reach::name).join(", ");
        Reach::named(name).ok_or_else(|| format!("reach: `{name}` is not one of {}", known()))
    };
    written.iter().map(one).collect()
}

/// Explanation of what loads may reach.
pub(super) fn explain(allowed: &[Reach]) -> Text {
    let words = allowed.iter().map(|reach| Text::recorded(word(*reach)));
    let listed = words.reduce(|list, next| {
        Text::new("policy-reach-and")
            .text("list", list)
            .text("next", next)
    });
    let listed = listed.unwrap_or_else(|| Text::new("policy-reach-nothing"));
    Text::new("policy-reach").text("list", listed)
}

/// What is reached, in words.
fn word(reach: Reach) -> &'static str {
    match reach {
        Reach::Hosts => "the hosts of a run",
        Reach::Strangers => "servers that take no part in the run",
        Reach::Files => "files of this host",
        Reach::Device => "block devices of this host",
    }
}

impl Policy {
    /// Refuses a phase that reaches what the policy does not name. A workload without a kind says
    /// nothing of its reach.
    pub(super) fn allows_reach(
        &self,
        kind: Option<&Kind>,
        spec: &PhaseSpec,
    ) -> Result<(), Refusal> {
        let workload = &spec.phase.workload;
        let Some(kind) = kind else {
            return Err(refuse(format!(
                "what `{workload}` reaches is not known here"
            )));
        };
        let needed = needed(kind, spec);
        if let Some(missing) = needed.iter().find(|reach| !self.reach.contains(reach)) {
            let name = missing.name();
            return Err(refuse(format!(
                "`{workload}` reaches {}, which `reach` does not name (`{name}`)",
                word(*missing)
            )));
        }
        let anywhere = needed.contains(&Reach::Strangers);
        match self.destinations {
            Some(_) if anywhere => Err(refuse(format!(
                "it sends to the networks listed under `destinations` only, and `{workload}` goes \
                 wherever its options say"
            ))),
            _ => Ok(()),
        }
    }
}

/// Targets that a phase of this kind reaches. Where a kind can also load hosts of the run, flows
/// between two hosts have tickets, and only a flow that ends where it begins goes elsewhere.
fn needed(kind: &Kind, spec: &PhaseSpec) -> Vec<Reach> {
    let mut own = spec.phase.flows.iter().filter(|flow| flow.from == spec.me);
    let elsewhere = own.any(|flow| flow.from == flow.to);
    if kind.reach.contains(&Reach::Hosts) && !elsewhere {
        return vec![Reach::Hosts];
    }
    let beyond = kind.reach.iter().copied();
    let beyond: Vec<Reach> = beyond.filter(|reach| *reach != Reach::Hosts).collect();
    match beyond.is_empty() {
        true => kind.reach.to_vec(),
        false => beyond,
    }
}

#[cfg(test)]
mod tests {
    use sokudo_i18n::english;
    use sokudo_model::kinds::{self, http, jmx, rr};

    use super::super::tests::spec;
    use super::*;

    const ANYTHING: &str = "reach = [\"hosts\", \"strangers\", \"files\", \"device\"]";

    fn judged(policy: &str, kind: Option<&Kind>, spec: &PhaseSpec) -> Result<(), String> {
        let policy = Policy::parse(policy).expect("a policy");
        let judged = policy.allows_reach(kind, spec);
        judged.map_err(|refusal| {
            assert!(refusal.operator_error && refusal.hint.is_some());
            english(&refusal.says)
        })
    }

    #[test]
    fn a_kind_that_comes_later_is_closed_until_it_is_named() {
        let spec = spec("imaginary", 1, "192.0.2.7");
        for (reach, name) in [
            (&[Reach::Device][..], "`device`"),
            (&[Reach::Files], "`files`"),
            (&[Reach::Strangers], "`strangers`"),
        ] {
            let imaginary = Kind {
                name: "imaginary",
                reach,
                ..http::KIND
            };
            let refused = judged("", Some(&imaginary), &spec).unwrap_err();
            assert!(refused.contains(name), "{refused}");
            // Naming the workload is not naming what it reaches.
            let named = "workloads = [\"imaginary\"]";
            assert!(judged(named, Some(&imaginary), &spec).is_err());
            assert_eq!(judged(ANYTHING, Some(&imaginary), &spec), Ok(()));
        }
        let refused = judged(ANYTHING, None, &spec).unwrap_err();
        assert!(refused.contains("not known"), "{refused}");
    }

    #[test]
    fn hosts_of_the_run_are_granted_and_strangers_are_not() {
        let mut spec = spec("http", 1, "127.0.0.1");
        assert_eq!(judged("", Some(&http::KIND), &spec), Ok(()));
        assert_eq!(judged("", Some(&rr::KIND), &spec), Ok(()));
        assert!(judged("", Some(&jmx::KIND), &spec).is_err());
        assert!(judged("reach = []", Some(&rr::KIND), &spec).is_err());
        spec.phase.flows[0].to = 0;
        let refused = judged("", Some(&http::KIND), &spec).unwrap_err();
        assert!(refused.contains("`strangers`"), "{refused}");
        let strangers = "reach = [\"hosts\", \"strangers\"]";
        assert_eq!(judged(strangers, Some(&http::KIND), &spec), Ok(()));
        // A plan reads and writes files, too.
        assert!(judged(strangers, Some(&jmx::KIND), &spec).is_err());
        let bounded = format!("{strangers}\ndestinations = [\"127.0.0.0/8\"]");
        let refused = judged(&bounded, Some(&http::KIND), &spec).unwrap_err();
        assert!(refused.contains("`destinations`"), "{refused}");
    }

    #[test]
    fn no_kind_reaches_nothing() {
        for kind in kinds::KINDS {
            assert!(!kind.reach.is_empty(), "{}", kind.name);
        }
        assert!(Policy::parse("reach = [\"everything\"]").is_err());
    }
}
