//! Prints what this machine tells, and what watching it costs.
//!
//! `cargo run --release -p sokudo-monitors --example observe [runs-directory]`

use std::path::PathBuf;
use std::time::Instant;

use sokudo_model::Batch;
use sokudo_monitors::{Context, NO_OPTIONS, environment, facilities, standing};

const ROUNDS: u32 = 2000;

fn main() {
    let ctx = Context::host("here");
    for fact in environment::capture("here", &ctx).facts {
        let value = fact.value.unwrap_or_else(|| format!("- ({})", fact.source));
        println!("{:9} {:32} {value}", fact.section, fact.name);
    }
    let runs = std::env::args_os()
        .nth(1)
        .map_or("runs".into(), PathBuf::from);
    for facility in facilities::probe(&runs) {
        let mark = if facility.available { "yes" } else { "no " };
        println!("{mark} {:28} {}", facility.name, facility.why);
        if let Some(change) = facility.change {
            println!("    {:28} → {change}", "");
        }
    }
    cost(&ctx);
}

fn cost(ctx: &Context) {
    for monitor in standing() {
        let name = monitor.info().name;
        let mut sampler = match monitor.open_with(NO_OPTIONS, ctx) {
            Ok(sampler) => sampler,
            Err(why) => {
                println!("{name}: {why}");
                continue;
            }
        };
        let mut points = 0;
        let before_ns = sokudo_net::clock::thread_cpu_ns();
        let began = Instant::now();
        for round in 0..ROUNDS {
            let mut batch = Batch::default();
            sampler.sample(i64::from(round) * 100_000_000, &mut batch);
            points = batch.series.len();
        }
        let wall_us = began.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS);
        let cpu_us = sokudo_net::clock::thread_cpu_ns()
            .zip(before_ns)
            .map(|(now, before)| (now - before) as f64 / 1e3 / f64::from(ROUNDS));
        println!("{name:14} {points:4} points  {wall_us:7.1} µs wall  {cpu_us:7.1?} µs CPU");
    }
}
