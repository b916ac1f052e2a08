//! Merging of findings of several phases into one conclusion.
//!
//! The same rule about the same host or path is the same conclusion, however many phases show it.
//! Trials of a search are made to lose: they support what a measured phase shows, or tell together
//! what the search ran into; they are not conclusions of their own.

use std::collections::BTreeSet;

use sokudo_model::{Evidence, Finding, Labels, Record, Text, Unit};

use super::search;
use crate::rules::is_limit;
use crate::view::machine;
use crate::view::{PhaseView, word};

/// Phases named in one row of evidence at most; the others are counted.
const MAX_NAMED: usize = 8;

/// Subject of a finding: its rule, and the host or path it names.
type Subject = Vec<String>;

/// Joins the findings of all phases, given in the order of the phases, into conclusions.
pub fn merge(record: &Record, drawn: Vec<Finding>) -> Vec<Finding> {
    let phases = record.manifest.phases.iter();
    let trials: BTreeSet<&str> = phases
        .filter(|phase| PhaseView::new(record, phase).is_trial())
        .map(|phase| phase.name.as_str())
        .collect();
    let mut groups: Vec<Group> = Vec::new();
    for finding in drawn {
        let subject = subject(record, &finding);
        let trial = trials.contains(finding.phase.as_str());
        let known = groups.iter().position(|group| group.subject == subject);
        let at = known.unwrap_or(groups.len());
        if known.is_none() {
            groups.push(Group::new(subject));
        }
        match trial {
            true => groups[at].trials.push(finding),
            false => groups[at].measured.push(finding),
        }
    }
    let (ordinary, limits): (Vec<Group>, Vec<Group>) = groups
        .into_iter()
        .partition(|group| !group.measured.is_empty() || !is_limit(&group.subject[0]));
    let found = limit_of_search(record, &ordinary, limits);
    let joined = ordinary.into_iter().filter_map(Group::join);
    joined.chain(found).collect()
}

/// Findings about one subject.
struct Group {
    subject: Subject,
    measured: Vec<Finding>,
    trials: Vec<Finding>,
}

impl Group {
    fn new(subject: Subject) -> Self {
        Self {
            subject,
            measured: Vec::new(),
            trials: Vec::new(),
        }
    }

    /// The strongest finding, and a row of evidence that names where else it held.
    fn join(self) -> Option<Finding> {
        let (mut leads, mut support) = (self.measured, self.trials);
        if leads.is_empty() {
            std::mem::swap(&mut leads, &mut support);
            let mut lead = take_strongest(&mut leads)?;
            let row = also(&lead.rule, &[], leads.len());
            lead.evidence.extend(row);
            return Some(lead);
        }
        let mut lead = take_strongest(&mut leads)?;
        let names: Vec<&str> = leads.iter().map(|f| f.phase.as_str()).collect();
        let row = also(&lead.rule, &names, support.len());
        lead.evidence.extend(row);
        Some(lead)
    }
}

fn take_strongest(findings: &mut Vec<Finding>) -> Option<Finding> {
    let strength = |f: &Finding| (f.severity, f.weight);
    let strongest = findings.iter().enumerate().max_by(|(i, a), (j, b)| {
        let (a, b) = (strength(a), strength(b));
        // Of equals the first one leads.
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(j.cmp(i))
    });
    let at = strongest?.0;
    Some(findings.remove(at))
}

/// Finding of a search's trials that no measured phase shows: one at most.
fn limit_of_search(record: &Record, ordinary: &[Group], limits: Vec<Group>) -> Option<Finding> {
    let Some(limit) = search::limit(record) else {
        let joined = limits.into_iter().filter_map(Group::join);
        return joined.max_by(|a, b| a.weight.total_cmp(&b.weight));
    };
    let about = subject(record, &limit.finding);
    if ordinary.iter().any(|group| group.subject == about) {
        return None;
    }
    let mut groups = limits.iter();
    let same = groups.find(|group| group.subject == about)?;
    let mut finding = limit.finding.clone();
    finding.says = limit.says(record);
    finding.next = limit.next();
    let row = also(&finding.rule, &[], same.trials.len() - 1);
    finding.evidence.extend(row);
    Some(finding)
}

/// Rule and target. Two ends of one set-up have messages of their own, which tell them apart.
fn subject(record: &Record, finding: &Finding) -> Subject {
    let mut subject = vec![finding.rule.clone()];
    if matches!(finding.rule.as_str(), "buffer_below_asked" | "low_mtu") {
        subject.push(finding.says.key.clone());
    }
    for name in ["host", "from", "to"] {
        subject.extend(word(&finding.says, name).map(str::to_owned));
    }
    let busy = matches!(
        finding.rule.as_str(),
        "host_busy" | "neighbour_interference"
    );
    if let Some(host) = subject.get(1).filter(|_| busy) {
        let machine = machine::neighbours(record, host).first().copied();
        subject[1] = machine.unwrap_or(host).to_owned();
    }
    subject
}

/// The row that names the other phases in which the rule drew the same conclusion.
fn also(rule: &str, names: &[&str], trials: usize) -> Option<Evidence> {
    let shown = names[..names.len().min(MAX_NAMED)].join(", ");
    let shown = match names.len() > MAX_NAMED {
        true => format!("{shown}, …"),
        false => shown,
    };
    let key = match (names.is_empty(), trials == 0) {
        (true, true) => return None,
        (false, true) => "evidence-also-phases",
        (true, false) => "evidence-also-trials",
        (false, false) => "evidence-also-phases-and-trials",
    };
    let mut says = Text::new(key);
    if !names.is_empty() {
        says = says
            .word("phases", shown)
            .number("count", names.len() as f64, Unit::One);
    }
    if trials > 0 {
        says = says.number("trials", trials as f64, Unit::One);
    }
    Some(Evidence {
        says,
        source: rule.into(),
        host: None,
        metric: None,
        labels: Labels::new(),
        value: None,
        unit: None,
    })
}
