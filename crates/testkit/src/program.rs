//! Runs the `sokudo` program in tests, with a bound on every wait.
//!
//! ```no_run
//! use sokudo_testkit::program::{Sokudo, temp_runs};
//!
//! let runs = temp_runs();
//! let ended = Sokudo::new(["check", "--quick"]).dir(runs.path()).run();
//! ended.expect_code(0).expect_stdout("delivered");
//! assert_eq!(runs.records().len(), 1);
//! ```

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest that a run of the program may take unless the test says otherwise.
pub const RUN_BOUND: Duration = Duration::from_secs(300);

/// Names another binary to test: an absolute path.
const BINARY_VARIABLE: &str = "SOKUDO_BIN";

/// Path of the `sokudo` binary that was built together with the running test.
///
/// Cargo builds it before the tests of the crate `sokudo`, or of the whole workspace; tests of
/// other crates alone may find it missing or old. `SOKUDO_BIN` names another one.
/// Panics when there is none, and says how to build it.
pub fn sokudo_bin() -> PathBuf {
    if let Some(path) = std::env::var_os(BINARY_VARIABLE) {
        return path.into();
    }
    let profile = profile_folder().expect("tests run below target/");
    let binary = profile.join(format!("sokudo{}", std::env::consts::EXE_SUFFIX));
    assert!(
        binary.is_file(),
        "there is no `{}`: run `cargo build -p sokudo` first",
        binary.display()
    );
    binary
}

/// Folder of what is built with the running program: `target/<profile>`, for tests in its `deps` and for
/// programs beside the binary.
pub(crate) fn profile_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let is_test = folder.ends_with("deps");
    Some(if is_test { folder.parent()? } else { folder }.to_owned())
}

/// Directory that stands for the user's own one; tests that look into it name another.
fn own_config() -> PathBuf {
    let folder = profile_folder().unwrap_or_else(std::env::temp_dir);
    folder.join("config-of-tests")
}

/// A working directory for runs, removed at the end of the test.
#[derive(Debug)]
pub struct TempRuns {
    directory: tempfile::TempDir,
}

/// Makes an empty working directory: records appear in its `runs/`.
pub fn temp_runs() -> TempRuns {
    let directory = tempfile::Builder::new()
        .prefix("sokudo-test-")
        .tempdir()
        .expect("make a temporary directory");
    TempRuns { directory }
}

impl TempRuns {
    /// The working directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Directories of the records in `runs/`, by name, which is by time.
    pub fn records(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("runs"));
        let mut records: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        records.sort();
        records
    }
}

/// One call of the program, before it is made.
#[derive(Debug)]
pub struct Sokudo {
    command: Command,
    bound: Duration,
}

impl Sokudo {
    /// The program with these arguments, without input, without colours, in English.
    pub fn new<I>(arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        Self::of(sokudo_bin().as_os_str(), arguments)
    }

    /// Another program under the same conditions: a peer, a script, this vocabulary's own tests.
    pub fn of<I>(program: &OsStr, arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let mut command = Command::new(program);
        command
            .args(arguments.into_iter().map(Into::into))
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            // Nothing of the user's own is read or written.
            .env("SOKUDO_CONFIG", own_config())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            command,
            bound: RUN_BOUND,
        }
    }

    /// Runs in this directory.
    pub fn dir(mut self, path: &Path) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives it this text on standard input.
    pub fn stdin(mut self, text: &str) -> Self {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(text.as_bytes())
            .and_then(|()| file.rewind())
            .expect("a temporary file takes a text");
        self.command.stdin(file);
        self
    }

    /// Allows another time than [`RUN_BOUND`].
    pub fn bound(mut self, bound: Duration) -> Self {
        self.bound = bound;
        self
    }

    /// Runs to the end. Panics with the program's output when it takes longer than allowed.
    pub fn run(self) -> Ended {
        self.start().finish()
    }

    /// Starts the program and goes on: for servers, and for what is interrupted half-way.
    pub fn start(mut self) -> Running {
        let line = format!("{:?}", self.command);
        let mut child = self
            .command
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start {line}: {e}"));
        let (lines_in, lines) = mpsc::channel();
        let stdout = collect(child.stdout.take(), lines_in.clone());
        let stderr = collect(child.stderr.take(), lines_in);
        Running {
            line,
            child,
            lines,
            heard: String::new(),
            stdout,
            stderr,
            deadline: Instant::now() + self.bound,
        }
    }
}

/// The program while it runs. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    line: String,
    child: Child,
    lines: Receiver<String>,
    heard: String,
    stdout: Collected,
    stderr: Collected,
    deadline: Instant,
}

impl Running {
    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line, of stdout or stderr, from which `pick` makes something.
    ///
    /// Panics with the output so far when the program ends or the bound passes before.
    pub fn wait_for<T>(&mut self, pick: impl Fn(&str) -> Option<T>) -> T {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.heard.push_str(&line);
                    if let Some(found) = pick(line.trim_end()) {
                        return found;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!(
                        "{} did not say it in time; heard:\n{}",
                        self.line, self.heard
                    )
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("{} ended without saying it:\n{}", self.line, self.heard)
                }
            }
        }
    }

    /// Panics with the program's output when it has ended.
    pub fn must_run(&mut self) {
        if let Some(status) = self.child.try_wait().expect("wait for the program") {
            let (stdout, stderr) = self.said();
            let line = &self.line;
            panic!("{line} ended ({status})\nstdout:\n{stdout}\nstderr:\n{stderr}");
        }
    }

    /// Asks the program to end, as Ctrl-C does.
    #[cfg(unix)]
    pub fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)
            .expect("interrupt the program");
    }

    /// Ends the program at once, without a chance to clean up, as `kill -9` does.
    pub fn kill(mut self) -> Ended {
        self.child.kill().expect("kill the program");
        self.finish()
    }

    /// Waits for the end. Panics with the program's output when it takes longer than allowed.
    pub fn finish(self) -> Ended {
        self.end().unwrap_or_else(|why| panic!("{why}"))
    }

    /// Waits for the end. Errors: it took longer than allowed and was ended, with what it had printed.
    pub fn end(mut self) -> Result<Ended, String> {
        const POLL: Duration = Duration::from_millis(5);
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("wait for the program") {
                break status;
            }
            if Instant::now() >= self.deadline {
                self.end_at_once();
                let (stdout, stderr) = self.said();
                let line = &self.line;
                return Err(format!(
                    "{line} took too long\nstdout:\n{stdout}\nstderr:\n{stderr}"
                ));
            }
            thread::sleep(POLL);
        };
        let (stdout, stderr) = self.said();
        Ok(Ended {
            line: std::mem::take(&mut self.line),
            code: status.code(),
            stdout,
            stderr,
        })
    }

    fn said(&mut self) -> (String, String) {
        (self.stdout.text(), self.stderr.text())
    }

    fn end_at_once(&mut self) {
        // It may have ended by itself in the meantime; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_at_once();
    }
}

/// The program after it ended.
#[derive(Debug)]
pub struct Ended {
    line: String,
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Everything it printed as result.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Ended {
    /// Fails the test, with all output of the program, unless it ended with this code.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "exit code of {self}");
        self
    }

    /// Fails the test unless stdout holds this text.
    #[track_caller]
    pub fn expect_stdout(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "no `{text}` on stdout: {self}");
        self
    }

    /// Fails the test unless stderr holds this text.
    #[track_caller]
    pub fn expect_stderr(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no `{text}` on stderr: {self}");
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            line,
            code,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "{line}\ncode {code:?}\nstdout:\n{stdout}\nstderr:\n{stderr}"
        )
    }
}

/// Output of the program on one stream so far.
#[derive(Debug)]
struct Collected {
    said: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Collected {
    /// Everything up to the stream's end, or what there is when a process that the program
    /// started holds the stream open.
    fn text(&self) -> String {
        const GRACE: Duration = Duration::from_secs(5);
        let deadline = Instant::now() + GRACE;
        while !self.reader.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        self.said.lock().expect("the reader does not panic").clone()
    }
}

/// Reads a stream to its end on a thread of its own, so that the program never waits for us.
fn collect<R>(stream: Option<R>, lines: mpsc::Sender<String>) -> Collected
where
    R: Read + Send + 'static,
{
    let said = Arc::new(Mutex::new(String::new()));
    let all = Arc::clone(&said);
    let reader = thread::spawn(move || {
        let Some(mut stream) = stream.map(BufReader::new) else {
            return;
        };
        let mut bytes = Vec::new();
        while matches!(stream.read_until(b'\n', &mut bytes), Ok(n) if n > 0) {
            let line = String::from_utf8_lossy(&bytes).into_owned();
            all.lock()
                .expect("nobody panics holding it")
                .push_str(&line);
            // The receiver is gone once the test only waits for the end.
            let _ = lines.send(line);
            bytes.clear();
        }
    });
    Collected { said, reader }
}
