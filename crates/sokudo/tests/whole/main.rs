//! Tests of the whole program, also under faults.
//!
//! Every test drives the real binary over loopback, in a directory of its own, with a bound on
//! everything that is waited for. Each file is one theme.

#![cfg(unix)]

mod advise;
mod bad_input;
mod bottlenecks;
mod browser;
mod bus;
mod causes;
mod check;
mod clients;
mod clock_step;
mod compare;
mod console;
mod data_ports;
#[cfg(unix)]
mod db_ops;
mod delayed_ack;
mod demands;
mod demo;
mod dns;
mod doors;
mod exchange;
mod faults;
mod first_signal;
mod flows;
#[cfg(feature = "fleet")]
mod generators;
#[cfg(feature = "fleet")]
mod group;
#[cfg(feature = "fleet")]
mod group_clock;
#[cfg(feature = "fleet")]
mod group_faults;
#[cfg(feature = "fleet")]
mod group_foreign;
#[cfg(feature = "fleet")]
mod group_guide;
#[cfg(feature = "fleet")]
mod group_hosts;
mod hostile_controller;
mod http;
mod japanese;
mod jmx;
mod jtl;
mod knee;
#[cfg(target_os = "linux")]
mod link;
mod many;
mod monitors;
mod out;
#[cfg(feature = "fleet")]
mod pages;
mod probe;
mod prove;
mod quiet;
mod readme;
mod records;
mod repeat;
mod replicate;
mod replicate_hosts;
mod report_pages;
mod results;
#[cfg(target_os = "linux")]
mod rrul;
mod scenario;
mod security;
mod settings_study;
mod sql;
mod stream;
mod sweep;
mod target_knobs;
#[cfg(target_os = "linux")]
mod terminal;
mod vocabulary;
mod was_study;
mod web;
mod web_hosts;
mod web_jmx;
mod why_servers;
#[cfg(feature = "fleet")]
mod windows;
