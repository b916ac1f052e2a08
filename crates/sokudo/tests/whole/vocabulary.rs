//! The words in which the tests speak: a place, a server, a result.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use sokudo_testkit::program::{Ended, Running, Sokudo, TempRuns, temp_runs};

/// Longest that any single call may take here; generous, because the cores may be busy.
pub const BOUND: Duration = Duration::from_secs(180);

/// Load that leaves other work on the machine room to breathe.
pub const GENTLE: &str = "2k/s";

/// A directory in which runs are recorded, gone at the end of the test.
pub struct Place(TempRuns);

/// A new, empty place.
pub fn place() -> Place {
    Place(temp_runs())
}

impl Place {
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The program with arguments separated by blanks, recording here.
    pub fn sokudo(&self, arguments: &str) -> Sokudo {
        self.words(arguments.split_whitespace())
    }

    /// The program with these arguments, recording here.
    pub fn words<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Sokudo {
        Sokudo::new(arguments)
            .dir(self.path())
            .env("SOKUDO_RUNS", "runs")
            .env("SOKUDO_LANG", "en")
            .bound(BOUND)
    }

    /// A file beside the records.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("write a file");
    }

    /// Runs to the end.
    pub fn run(&self, arguments: &str) -> Ended {
        self.sokudo(arguments).run()
    }

    /// Directories of all records here.
    pub fn records(&self) -> Vec<PathBuf> {
        self.0.records()
    }

    /// The only record here.
    #[track_caller]
    pub fn record(&self) -> PathBuf {
        let records = self.records();
        assert_eq!(records.len(), 1, "records: {records:?}");
        records[0].clone()
    }

    /// Waits until the run that is under way here has recorded something of its load, whose series
    /// begin with the name of this workload. The client must not end before.
    pub fn wait_until_recorded_by(&self, workload: &str, running: &mut Running) {
        self.wait_until_recorded_while(workload, || running.must_run());
        running.must_run();
    }

    /// Waits until the run that is under way here has recorded something of its load, whose series
    /// begin with the name of this workload.
    pub fn wait_until_recorded(&self, workload: &str) {
        self.wait_until_recorded_while(workload, || ());
    }

    fn wait_until_recorded_while(&self, workload: &str, mut goes_on: impl FnMut()) {
        let deadline = Instant::now() + BOUND;
        let metric = format!("{workload}.");
        // Only a run that is under way has a spool. Two of one second have no order. What is watched
        // on the hosts is recorded before the load begins, and may be much.
        let recorded = || {
            let spools = self
                .records()
                .into_iter()
                .map(|record| record.join("spool"));
            let files = spools.filter_map(|spool| std::fs::read_dir(spool).ok());
            let mut segments = files.flatten().flatten();
            segments.any(|file| {
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                let mut windows = bytes.windows(metric.len());
                windows.any(|window| window == metric.as_bytes())
            })
        };
        while !recorded() {
            assert!(
                Instant::now() < deadline,
                "nothing of {workload} is recorded"
            );
            goes_on();
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Content of the only record here.
    #[track_caller]
    pub fn load(&self) -> sokudo_model::Record {
        let path = self.record();
        sokudo_store::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// `sokudo serve`, ended with the test.
pub struct Server {
    pub running: Running,
    pub address: SocketAddr,
}

/// Serves this machine on a port that the system chooses.
pub fn serve(place: &Place) -> Server {
    serve_with(place.sokudo("serve --bind 127.0.0.1:0"))
}

/// Waits until a server, started with other options, says where it listens.
pub fn serve_with(command: Sokudo) -> Server {
    let mut running = command.start();
    let address = running.wait_for(|line| line.strip_prefix("serving on ")?.parse().ok());
    Server { running, address }
}

/// A process id as rustix wants it.
pub fn pid(running: &Running) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(running.id() as i32).expect("a running program has an id")
}

/// Measures with `command`, whose `HOST` is a server of this machine, and gives the one object that it
/// prints. Fails unless all went well.
#[track_caller]
pub fn measured(place: &Place, command: &str) -> Summary {
    let server = serve(place);
    let ended = place.run(&command.replace("HOST", &server.address.to_string()));
    ended.expect_code(0);
    summary(&ended)
}

/// A summary printed by `--json`.
#[derive(Debug)]
pub struct Summary(pub Value);

/// The one object on stdout. Fails when there is anything else.
#[track_caller]
pub fn summary(ended: &Ended) -> Summary {
    let value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("stdout is not one JSON object ({error}): {ended}"));
    Summary(value)
}

impl Summary {
    /// A number of the summary; fails when it is absent.
    #[track_caller]
    pub fn number(&self, metric: &str) -> f64 {
        self.maybe(metric)
            .unwrap_or_else(|| panic!("no {metric} in {:#}", self.0["summary"]))
    }

    /// A number of the summary.
    pub fn maybe(&self, metric: &str) -> Option<f64> {
        self.0["summary"][metric].as_f64()
    }

    /// A text of the object's first level.
    #[track_caller]
    pub fn text(&self, key: &str) -> &str {
        self.0[key]
            .as_str()
            .unwrap_or_else(|| panic!("no text {key} in {:#}", self.0))
    }

    /// Fails unless it is of this workload and holds all of these numbers.
    #[track_caller]
    pub fn promises(&self, workload: &str, metrics: &[&str]) {
        assert_eq!(self.text("workload"), workload);
        for metric in metrics {
            self.number(metric);
        }
    }

    /// Every flow.
    #[track_caller]
    pub fn flows(&self) -> &[Value] {
        self.0["flows"].as_array().expect("flows are a list")
    }

    /// Fails unless everything sent is received or missing.
    #[track_caller]
    pub fn adds_up(&self) -> &Self {
        let sent = self.number("datagram.sent_packets");
        let received = self.number("datagram.received_packets");
        let missing = self.number("datagram.missing_packets");
        assert!(sent > 0.0, "nothing was sent: {:#}", self.0["summary"]);
        assert_eq!(sent, received + missing, "{:#}", self.0["summary"]);
        self
    }
}

/// Fails unless the program refused the operator's wish: exit code 2, one sentence that holds
/// `says`, a hint that holds `hint`, and no word of a panic.
#[track_caller]
pub fn refused(ended: &Ended, says: &str, hint: &str) {
    ended.expect_code(2);
    told(ended, says, hint);
}

/// Fails unless stderr holds an error sentence and a hint in the program's manner.
#[track_caller]
pub fn told(ended: &Ended, says: &str, hint: &str) {
    let line = |start: &str| {
        let found = ended.stderr.lines().find_map(|l| l.strip_prefix(start));
        found.unwrap_or_else(|| panic!("no line `{start}…`: {ended}"))
    };
    let sentence = line("error: ");
    assert!(sentence.contains(says), "no `{says}` in `{sentence}`");
    let begins_large = sentence.starts_with(char::is_uppercase);
    // `<HOST>...` is the parser's way to say "one or more".
    let stops = sentence.ends_with('.') && !sentence.ends_with("...");
    assert!(
        !begins_large && !stops,
        "`{sentence}` is not in the program's manner"
    );
    let advice = line("hint: ");
    assert!(advice.contains(hint), "no `{hint}` in `{advice}`");
    no_panic(ended);
}

/// Fails when a panic shows.
#[track_caller]
pub fn no_panic(ended: &Ended) {
    for word in ["panicked", "RUST_BACKTRACE"] {
        assert!(!ended.stderr.contains(word), "a panic shows: {ended}");
    }
}
