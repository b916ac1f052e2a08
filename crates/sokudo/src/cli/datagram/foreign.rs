//! `sokudo datagram --wire …`: the far end is another tool's process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use sokudo_controller::{Hosts, Run, RunConfig, host_name};
use sokudo_model::{Labels, PhasePlan, PhaseRecord, Refusal, RunStatus, Text};
use sokudo_workloads::datagram::vendor::protocol::Width;
use sokudo_workloads::datagram::vendor::{self, VendorOptions, VendorSummary, native};
use sokudo_workloads::datagram::{self, options::DatagramOptions};

use super::DatagramArgs;
use crate::cli::finish::finish;
use crate::cli::observer::Terminal;
use crate::cli::{Exit, Failure, command_for_record, stop_flag};

/// A wire that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Wire {
    /// The datagram test of a well-known data grid, sequence numbers of 32 bits.
    DatagramTest,
    /// The same with 64 bits: a listener of its release 24.09 then counts right.
    #[value(name = "datagram-test-64")]
    DatagramTest64,
}

/// Carries it out. A listener without HOST ends with its duration or with Ctrl-C.
pub fn run(wire: Wire, args: DatagramArgs) -> Result<Exit, Failure> {
    let width = match wire {
        Wire::DatagramTest => Width::Bits32,
        Wire::DatagramTest64 => Width::Bits64,
    };
    let options = native::options(&args.options, &args.hosts, width)?;
    let stop = stop_flag()?;
    let config = RunConfig {
        workload: datagram::NAME.into(),
        command: command_for_record(),
        root: sokudo_store::runs_root(),
        seed: args.seed.unwrap_or_else(crate::cli::workload::random_seed),
        interval_ns: args.options.interval.0.max(100_000_000),
        stop: stop.clone(),
    };
    let hosts = Hosts::own(sokudo_agent::factory)?;
    let observer = Terminal::new(args.show.lang(), None, None);
    let mut run = Run::begin(hosts, config, Box::new(observer))?;
    let t0_ns = run.elapsed_ns();
    let listening_ns = args.options.duration_ns();
    let outcome = if options.peers.is_empty() && listening_ns > 0 {
        listen_for(&options, listening_ns, &stop)
    } else {
        vendor::watch(&options, &mut |_| {}, &stop)
    };
    let summary = match outcome {
        Ok(summary) => summary,
        Err(refusal) => {
            sokudo_store::discard(&run.finish()?.path)?;
            return Err(refusal.into());
        }
    };
    let result = native::result(&summary, &host_name());
    let problems = summary.problems();
    run.manifest_mut()
        .notes
        .push(Text::new("engine-foreign-wire"));
    run.manifest_mut().plan.phases.push(plan(&args.options));
    let status = if problems.is_empty() {
        RunStatus::Ok
    } else {
        RunStatus::Partial
    };
    for problem in problems {
        eprintln!("  ! {problem}");
    }
    let t1_ns = run.elapsed_ns();
    let plan = plan(&args.options);
    run.add_phase(PhaseRecord {
        name: plan.name,
        workload: plan.workload,
        options: plan.options,
        labels: plan.labels,
        t0_ns,
        t1_ns,
        status,
        result,
    })?;
    finish(run, &args.show)
}

/// Listens for a time: the wire has no end of its own.
fn listen_for(
    options: &VendorOptions,
    duration_ns: u64,
    stop: &AtomicBool,
) -> Result<VendorSummary, Refusal> {
    let until = Instant::now() + Duration::from_nanos(duration_ns);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clock = scope.spawn(|| {
            while Instant::now() < until && !done.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(50));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let outcome = vendor::watch(options, &mut |_| {}, stop);
        done.store(true, Ordering::Relaxed);
        clock.thread().unpark();
        outcome
    })
}

fn plan(options: &DatagramOptions) -> PhasePlan {
    PhasePlan {
        name: "measure".into(),
        workload: datagram::NAME.into(),
        options: options.to_json(),
        flows: Vec::new(),
        duration_ns: options.duration_ns(),
        bound_ns: options.duration_ns(),
        labels: Labels::from([("wire".to_owned(), "datagram-test".to_owned())]),
    }
}
