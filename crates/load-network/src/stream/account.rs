//! Accounting of a thread: bytes moved, calls, and their cost.
//!
//! The measured loop adds to two numbers per flow and compares the time with one other; the rest
//! happens a few times per second:
//!
//! ```text
//! moved(bytes) ─► totals ──every bin──► (end of bin, bytes)  ──every interval──► reporting thread
//! thread's clocks: elapsed = on a CPU + ready without a CPU + paused on purpose + waiting for the
//!                  socket        └ all but the last are known, so the last is, without a stopwatch
//! ```

use std::sync::mpsc::SyncSender;

use sokudo_net::clock::{thread_cpu_ns, thread_wait_ns};
use sokudo_net::tcp::info::TcpInfo;
use sokudo_workload::handover::{Records, Reusable};

use super::report::Report;

/// End of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Writes.
    Sender,
    /// Reads.
    Receiver,
}

/// Bins of a flow that have room before the load begins; more, of long intervals, get it when they come.
const MOST_PREPARED: usize = 1 << 16;

/// Bins and shares of one interval of one thread.
#[derive(Debug)]
pub(crate) struct Interval {
    pub(crate) end: End,
    pub(crate) t_ns: i64,
    /// Flow → end of each bin and the bytes moved in it.
    pub(crate) bins: Vec<(u32, Vec<(i64, u64)>)>,
    pub(crate) shares: Shares,
}

impl Interval {
    /// An empty one, written to without allocating.
    fn prepared(end: End, flows: &[Flow], times: &Times) -> Self {
        // It is written on while the one before is away.
        let room = 2 * (times.interval_ns / times.bin_ns.max(1)) + 2;
        let room = usize::try_from(room).unwrap_or(0).min(MOST_PREPARED);
        let bins = |flow: &Flow| (flow.flow, Vec::with_capacity(room));
        Self {
            end,
            t_ns: times.start_ns,
            bins: flows.iter().map(bins).collect(),
            shares: Shares::default(),
        }
    }
}

impl Reusable for Interval {
    fn clear(&mut self) {
        for (_, bins) in &mut self.bins {
            bins.clear();
        }
    }
}

/// Shares of a thread's time, each from 0 to 1; `None` where the system does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Shares {
    pub(crate) cpu: Option<f64>,
    pub(crate) wait: Option<f64>,
    /// Waited for the socket.
    pub(crate) socket: Option<f64>,
}

/// A thread's clocks at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clocks {
    t_ns: i64,
    cpu_ns: Option<u64>,
    wait_ns: Option<u64>,
    paused_ns: i64,
}

impl Clocks {
    fn read(t_ns: i64, paused_ns: i64) -> Self {
        Self {
            t_ns,
            cpu_ns: thread_cpu_ns(),
            wait_ns: thread_wait_ns(),
            paused_ns,
        }
    }

    /// Differences to `earlier`.
    fn since(&self, earlier: &Clocks) -> Spent {
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Spent {
            elapsed_ns: self.t_ns - earlier.t_ns,
            cpu_ns: more(self.cpu_ns, earlier.cpu_ns),
            wait_ns: more(self.wait_ns, earlier.wait_ns),
            paused_ns: self.paused_ns - earlier.paused_ns,
        }
    }
}

/// A thread's time between two moments, nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) elapsed_ns: i64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) wait_ns: Option<u64>,
    pub(crate) paused_ns: i64,
}

impl Spent {
    pub(crate) fn shares(&self) -> Shares {
        let elapsed = self.elapsed_ns.max(1) as f64;
        let share = |ns: Option<u64>| ns.map(|ns| (ns as f64 / elapsed).min(1.0));
        let known = |cpu: u64, wait: u64| cpu as f64 + wait as f64 + self.paused_ns as f64;
        let socket = self.cpu_ns.zip(self.wait_ns);
        Shares {
            cpu: share(self.cpu_ns),
            wait: share(self.wait_ns),
            socket: socket.map(|(cpu, wait)| (1.0 - known(cpu, wait) / elapsed).clamp(0.0, 1.0)),
        }
    }
}

/// Bytes of one flow at one end.
#[derive(Debug, Default)]
struct Flow {
    flow: u32,
    /// Since the start.
    bytes: u64,
    calls: u64,
    /// At the end of the last bin.
    bytes_in_bins: u64,
    /// First and last time that bytes moved, nanoseconds.
    moved_ns: Option<(i64, i64)>,
    /// Begin of counting.
    from: Mark,
    /// End of counting; `None` while it goes on.
    to: Option<Mark>,
}

/// One flow at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    pub(crate) t_ns: i64,
    pub(crate) bytes: u64,
    pub(crate) calls: u64,
    pub(crate) tcp: Option<TcpInfo>,
}

/// Result of one flow at one end.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    pub(crate) flow: u32,
    /// Since the start, warm-up included.
    pub(crate) bytes: u64,
    /// Start of the load.
    pub(crate) started_ns: i64,
    /// First and last time that bytes moved while they counted, nanoseconds.
    pub(crate) moved_ns: Option<(i64, i64)>,
    /// Agreed begin of what counts, nanoseconds.
    pub(crate) count_from_ns: i64,
    /// Begin and end of counting.
    pub(crate) from: Mark,
    pub(crate) to: Mark,
    /// Time of the thread while it counted.
    pub(crate) spent: Spent,
    /// CPU time that belongs to the flow: the thread's, shared out by bytes. Nanoseconds.
    pub(crate) cost_ns: Option<f64>,
}

/// Times at which a thread writes its records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Start of the load.
    pub(crate) start_ns: i64,
    /// Before this nothing counts.
    pub(crate) count_from_ns: i64,
    pub(crate) bin_ns: i64,
    pub(crate) interval_ns: i64,
}

/// One thread's books.
pub(crate) struct Ledger {
    times: Times,
    flows: Vec<Flow>,
    records: Records<Interval>,
    counting: bool,
    bin_at_ns: i64,
    report_at_ns: i64,
    /// The earliest of what is to be done.
    look_at_ns: i64,
    /// Time of the last look.
    now_ns: i64,
    paused_ns: i64,
    counted_from: Clocks,
    reported: Clocks,
    reports: SyncSender<Report>,
}

impl Ledger {
    /// Books of a thread that moves these flows.
    pub(crate) fn new(
        end: End,
        flows: impl IntoIterator<Item = u32>,
        times: Times,
        reports: SyncSender<Report>,
    ) -> Self {
        let flow = |flow| Flow {
            flow,
            ..Flow::default()
        };
        let flows: Vec<Flow> = flows.into_iter().map(flow).collect();
        let clocks = Clocks::read(times.start_ns, 0);
        Self {
            records: Records::new(|| Interval::prepared(end, &flows, &times)),
            flows,
            counting: false,
            bin_at_ns: times.start_ns.saturating_add(times.bin_ns),
            report_at_ns: times.start_ns.saturating_add(times.interval_ns),
            look_at_ns: times.start_ns,
            now_ns: times.start_ns,
            paused_ns: 0,
            counted_from: clocks,
            reported: clocks,
            times,
            reports,
        }
    }

    /// Notes that the flow at `index` has moved bytes in one call that ended at the last look.
    #[inline]
    pub(crate) fn moved(&mut self, index: usize, bytes: usize) {
        let (flow, now) = (&mut self.flows[index], self.now_ns);
        flow.bytes += bytes as u64;
        flow.calls += 1;
        match &mut flow.moved_ns {
            Some((_, last_ns)) => *last_ns = now,
            None => flow.moved_ns = Some((now, now)),
        }
    }

    /// Bytes that the flow at `index` has moved since the start.
    #[inline]
    pub(crate) fn bytes(&self, index: usize) -> u64 {
        self.flows[index].bytes
    }

    /// Does what is due `now`: to be called before the bytes of the call that just ended are
    /// noted. `tcp` reads the state of the flow at an index.
    #[inline]
    pub(crate) fn look(&mut self, now: i64, tcp: impl Fn(usize) -> Option<TcpInfo>) {
        self.now_ns = now;
        if now >= self.look_at_ns {
            self.due(now, tcp);
        }
    }

    #[cold]
    fn due(&mut self, now: i64, tcp: impl Fn(usize) -> Option<TcpInfo>) {
        self.close_bins(now);
        if !self.counting && now >= self.times.count_from_ns {
            self.counting = true;
            // Without a byte yet counting begins on time, however late the thread woke up.
            let t_ns = match self.flows.iter().all(|flow| flow.bytes == 0) {
                true => self.times.count_from_ns,
                false => now,
            };
            self.counted_from = Clocks::read(t_ns, self.paused_ns);
            for (index, flow) in self.flows.iter_mut().enumerate() {
                flow.from = mark(flow, t_ns, tcp(index));
                // What moved before does not count.
                flow.moved_ns = None;
            }
        }
        if now >= self.report_at_ns {
            self.report(now);
        }
        self.look_at_ns = self.bin_at_ns.min(self.report_at_ns);
        if !self.counting {
            self.look_at_ns = self.look_at_ns.min(self.times.count_from_ns);
        }
    }

    fn close_bins(&mut self, now: i64) {
        while now >= self.bin_at_ns {
            let bins = self.records.bins.iter_mut();
            for (flow, (_, bins)) in self.flows.iter_mut().zip(bins) {
                bins.push((self.bin_at_ns, flow.bytes - flow.bytes_in_bins));
                flow.bytes_in_bins = flow.bytes;
            }
            self.bin_at_ns = self.bin_at_ns.saturating_add(self.times.bin_ns);
        }
    }

    /// Notes that the thread stood still on purpose.
    pub(crate) fn paused(&mut self, ns: i64) {
        self.paused_ns += ns;
    }

    /// Hands the interval over. When the reporting thread is behind, it is kept for the next time.
    fn report(&mut self, now: i64) {
        self.report_at_ns = now.saturating_add(self.times.interval_ns);
        let clocks = Clocks::read(now, self.paused_ns);
        self.close_interval(&clocks);
        let unwrap = |report| match report {
            Report::Interval(interval) => Some(interval),
            Report::Written(_) | Report::Ended(_) => None,
        };
        if self
            .records
            .hand_over(&self.reports, Report::Interval, unwrap)
        {
            self.reported = clocks;
        }
    }

    /// Puts what the thread did since the last report into the interval.
    fn close_interval(&mut self, clocks: &Clocks) {
        self.records.t_ns = clocks.t_ns;
        self.records.shares = clocks.since(&self.reported).shares();
    }

    /// Notes that the flow at `index` counts no more.
    pub(crate) fn ended(&mut self, index: usize, now: i64, tcp: Option<TcpInfo>) {
        let flow = &mut self.flows[index];
        if flow.to.is_none() {
            flow.to = Some(mark(flow, now, tcp));
        }
    }

    /// Closes the books: what each flow came to, in the order given.
    pub(crate) fn close(mut self, now: i64, tcp: impl Fn(usize) -> Option<TcpInfo>) -> Vec<Moved> {
        if !self.counting {
            // It ended during the warm-up, or never began: nothing counts.
            self.times.count_from_ns = self.times.count_from_ns.min(now);
        }
        self.due(now, &tcp);
        // The last bin is as wide as the others, so that its rate is not too high.
        let last = self.bin_at_ns;
        if self
            .flows
            .iter()
            .any(|flow| flow.bytes > flow.bytes_in_bins)
        {
            self.close_bins(last);
        }
        let clocks = Clocks::read(now, self.paused_ns);
        self.close_interval(&clocks);
        // Fails only when the reporting thread has ended.
        let _ = self.reports.send(Report::Interval(self.records.last()));
        let spent = clocks.since(&self.counted_from);
        let counted = |flow: &Flow| flow.bytes.saturating_sub(flow.from.bytes) as f64;
        let all: f64 = self.flows.iter().map(counted).sum();
        let flows = self.flows.iter().enumerate();
        flows
            .map(|(index, flow)| Moved {
                cost_ns: spent
                    .cpu_ns
                    .map(|cpu| cpu as f64 * counted(flow) / all.max(1.0)),
                flow: flow.flow,
                bytes: flow.bytes,
                started_ns: self.times.start_ns,
                moved_ns: flow.moved_ns,
                count_from_ns: self.times.count_from_ns,
                from: flow.from,
                to: flow.to.unwrap_or_else(|| mark(flow, now, tcp(index))),
                spent,
            })
            .collect()
    }
}

fn mark(flow: &Flow, t_ns: i64, tcp: Option<TcpInfo>) -> Mark {
    Mark {
        t_ns,
        bytes: flow.bytes,
        calls: flow.calls,
        tcp,
    }
}
