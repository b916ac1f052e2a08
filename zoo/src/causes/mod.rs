//! The cases, one file for each part of a system; an entry is all that a case needs.

mod balancers;
mod connections;
pub mod controls;
mod cores;
mod databases;
mod ends;
mod hosts;
mod http;
mod interruptions;
mod members;
pub mod pairs;
mod path;
mod programs;
mod proxies;
mod queues;
mod replication;
mod services;
mod sockets;
mod stores;
mod ways;

use crate::case::Case;

/// All single causes, by file.
const FILES: &[&[Case]] = &[
    path::ALL,
    hosts::ALL,
    interruptions::ALL,
    sockets::ALL,
    connections::ALL,
    http::ALL,
    queues::ALL,
    programs::ALL,
    cores::ALL,
    replication::ALL,
    databases::ALL,
    services::ALL,
    proxies::ALL,
    ways::ALL,
    members::ALL,
    balancers::ALL,
    stores::ALL,
    ends::ALL,
];

/// Cases whose limit does not hang on how busy the machine is: the tests run these.
pub const ROBUST: &[&str] = &[
    "bus-window",
    "connections-bounded",
    "consumer-takes-its-time",
    "embedded-database-behind-a-small-pool",
    "healthy-bus",
    "healthy-far-bus",
    "healthy-far-stream",
    "healthy-stream",
    "own-shaper",
    "reader-takes-its-time",
    "request-window",
    "small-receive-buffer",
    "small-send-buffer",
    "small-send-default",
    "way-loses-datagrams",
];

/// Every single cause.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    FILES.iter().copied().flatten()
}

/// The single cause of this name.
pub fn named(name: &str) -> Option<&'static Case> {
    cases().find(|case| case.name == name)
}

/// Description of a case's world, in a language; a pair has those of its two causes.
pub fn says(name: &str, tongue: usize) -> String {
    let of = |name: &str| {
        let mut all = cases().chain(controls::ALL);
        let case = all.find(|case| case.name == name);
        case.map_or("", |case| case.says[tongue])
    };
    match name.split_once(" + ") {
        Some((first, second)) => format!("{} + {}", of(first), of(second)),
        None => of(name).to_owned(),
    }
}

/// Prints the cases.
pub fn list() {
    for case in cases().chain(controls::ALL) {
        println!("{:34} {}", case.name, case.says[0]);
    }
    for pair in pairs::ALL {
        println!("{} + {}", pair.first, pair.second);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_cases_and_each_name_is_one() {
        let names: BTreeSet<&str> = cases().chain(controls::ALL).map(|case| case.name).collect();
        assert_eq!(names.len(), cases().count() + controls::ALL.len());
        assert!(cases().count() >= 60, "{}", cases().count());
        assert!(pairs::ALL.len() >= 25);
    }

    #[test]
    fn every_case_has_two_strengths_a_load_and_two_sentences() {
        for case in cases().chain(controls::ALL) {
            let [weak, strong] = case.strengths;
            assert!(
                weak > 0.0 && strong > 0.0 && weak != strong,
                "{}",
                case.name
            );
            assert!(!case.loads.is_empty(), "{}", case.name);
            assert!(
                case.says.iter().all(|says| !says.is_empty()),
                "{}",
                case.name
            );
        }
    }

    #[test]
    fn the_robust_ones_exist() {
        let known = |name: &str| {
            let controls = controls::ALL.iter().any(|case| case.name == name);
            controls || named(name).is_some()
        };
        for name in ROBUST {
            assert!(known(name), "{name}");
        }
    }
}
