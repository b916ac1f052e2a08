//! The program for Windows, under Wine: it speaks, its agent joins a group, and it measures together
//! with an agent of this system.
//!
//! `SOKUDO_WINDOWS` names the program; `./dev windows test` builds it and sets that. Without it, or
//! without Wine, nothing is tried. Wine's files lie beside the program, so that they are made once.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use sokudo_testkit::program::Sokudo;
use sokudo_testkit::skip;

use crate::group::{agent, at, controller, has_members, own_address};
use crate::vocabulary::{BOUND, Place, place, summary};

/// Longest that Wine may take to make its files.
const FIRST_BOUND: Duration = Duration::from_secs(400);

/// A program under Wine. What Wine keeps running in the background ends with it.
struct Wine {
    program: PathBuf,
    prefix: PathBuf,
}

impl Wine {
    /// Says why the test is skipped and returns `None` where there is no such program, or no Wine.
    fn find() -> Option<Self> {
        let Some(program) = std::env::var_os("SOKUDO_WINDOWS").map(PathBuf::from) else {
            skip("SOKUDO_WINDOWS names no program for Windows; `./dev windows test` builds one");
            return None;
        };
        let mut asked = Command::new("wine");
        let asked = asked.arg("--version").stdout(Stdio::null());
        asked.stderr(Stdio::null());
        if !asked.status().is_ok_and(|status| status.success()) {
            skip("there is no `wine`");
            return None;
        }
        let prefix = program.with_file_name("prefix");
        let wine = Self { program, prefix };
        if !wine.prefix.join("system.reg").is_file() {
            wine.under_wine(OsStr::new("wineboot"), &["-i"])
                .bound(FIRST_BOUND)
                .run()
                .expect_code(0);
        }
        Some(wine)
    }

    fn under_wine(&self, program: &OsStr, words: &[&str]) -> Sokudo {
        let words = words.iter().map(OsStr::new);
        Sokudo::of(OsStr::new("wine"), [program].into_iter().chain(words))
            .env("WINEPREFIX", &self.prefix.to_string_lossy())
            .env("WINEARCH", "win64")
            .env("WINEDEBUG", "-all")
            // Wine asks for neither of these programs, which only windows would use.
            .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
    }

    /// The program with a home of its own below the place.
    fn at(&self, place: &Place, home: &str, words: &[&str]) -> Sokudo {
        self.under_wine(self.program.as_os_str(), words)
            .dir(place.path())
            .env("SOKUDO_CONFIG", home)
            .env("SOKUDO_RUNS", "runs")
            .env("SOKUDO_LANG", "en")
            .bound(BOUND)
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        // Ends the processes of this prefix and no others.
        let mut end = Command::new("wineserver");
        let _ = end.arg("-k").env("WINEPREFIX", &self.prefix).status();
    }
}

/// Row of the host in `group hosts`.
#[track_caller]
fn listed(place: &Place, name: &str) -> Value {
    let ended = at(place, "home", &["group", "hosts", "lab", "--json"]).run();
    let line = |line: &str| serde_json::from_str::<Value>(line).expect("one object per line");
    let found = ended
        .stdout
        .lines()
        .map(line)
        .find(|host| host["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {ended}"))
}

#[test]
fn an_agent_on_windows_joins_and_measures_with_others() {
    let Some(wine) = Wine::find() else {
        return;
    };
    let place = place();
    let told = wine.at(&place, "winhost", &["doctor"]).run();
    told.expect_stdout("not available on this system");
    let alone = wine.at(&place, "winhost", &["console", "--local", "2"]);
    alone
        .stdin("node 1 rr 2 --count 5\n")
        .run()
        .expect_code(0)
        .expect_stdout("→ hostb");
    // A finished record, without what its writer had open.
    assert!(!place.record().join("spool").exists());

    let (_controller, token) = controller(&place, &own_address(99));
    let _hosta = agent(&place, &token, "hosta");
    let words = ["agent", "--join", &token, "--name", "winhost"];
    let mut winhost = wine.at(&place, "winhost", &words).start();
    winhost.wait_for(|line| (line == "connected").then_some(()));
    has_members(&place, &["hosta", "winhost"]);
    let host = listed(&place, "winhost");
    assert_eq!(host["os"], "windows");
    assert!(host["cores"].as_u64() >= Some(1), "{host}");
    // Its clock has another zero: the offset was measured, and within a bound.
    assert!(host["clock_error_seconds"].as_f64() > Some(0.0), "{host}");

    let lines = "\
node 1 set datagram 2 --count 200 --rate 500/s
node 2 set stream 1 --bytes 100kB
all enter
waitallresults 2 60s
";
    place.write("pair.sks", lines);
    let ended = at(&place, "home", &["run", "pair.sks", "lab", "--json"]).run();
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("group.hosts"), 3.0);
    // The first record is that of the console.
    let table = place.records()[1].join("commands.csv");
    let table = std::fs::read_to_string(table).expect("a table");
    assert!(table.contains(",hosta,winhost,"), "{table}");
    assert!(table.contains(",winhost,hosta,"), "{table}");
    assert!(said.number("datagram.received_packets") > 0.0);
}
