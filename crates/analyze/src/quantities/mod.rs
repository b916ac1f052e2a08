//! Quantities of a phase, one file per kind: datagrams, requests, connections, pairs of hosts.

pub mod advice;
pub mod asked;
pub mod audit;
pub mod capacity;
pub mod datagrams;
pub mod ends;
pub mod events;
pub mod exchange;
pub mod experiment;
pub mod files;
pub mod harm;
pub mod lacking;
pub mod load_time;
pub mod pairs;
pub mod placement;
pub mod probe;
pub mod ranges;
pub mod repeats;
pub mod requests;
pub mod service_times;
pub mod silence;
pub mod stopped;
pub mod sweep;
pub mod tcp;
pub mod transfer;
pub mod versus;
