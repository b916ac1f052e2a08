//! Every command of the guide for many hosts works, in its order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sokudo_testkit::program::Running;
use sokudo_testkit::zenohd;

use crate::group::{at, has_members, own_address};
use crate::vocabulary::{Place, place};

/// A command, and the host on which it is typed; what is typed at a prompt follows its command.
type Line = (String, String);

/// Lines in the guide's frames behind a prompt.
fn lines(text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for line in text.split("```").skip(1).step_by(2).flat_map(str::lines) {
        if let Some(typed) = line.strip_prefix("sokudo> ") {
            let (_, console) = found.last_mut().expect("a console");
            console.push('\n');
            console.push_str(typed);
        } else if let Some((host, command)) = line.split_once("$ ") {
            found.push((host.to_owned(), command.to_owned()));
        }
    }
    found
}

/// The guide's hosts, as far as they are there.
struct World {
    place: Place,
    /// Addresses of the guide → those of this process.
    addresses: [(&'static str, String); 3],
    /// Running programs, by the host on which they run.
    running: BTreeMap<String, Running>,
    tokens: BTreeMap<&'static str, String>,
}

impl World {
    fn new() -> Self {
        Self {
            place: place(),
            addresses: [
                ("192.0.2.10", own_address(40)),
                ("tokyo1", own_address(41)),
                ("zen1", own_address(42)),
            ],
            running: BTreeMap::new(),
            tokens: BTreeMap::new(),
        }
    }

    fn address(&self, of: &str) -> &str {
        let found = self.addresses.iter().find(|(host, _)| *host == of);
        &found.expect("a known host").1
    }

    /// A line as it is typed here: with the addresses and secrets of this group.
    fn typed(&self, line: &str) -> Vec<String> {
        let mut line = line.to_owned();
        let made_for = match line.contains("sokudo router") {
            true => "router",
            false => "agent",
        };
        if let Some(token) = self.tokens.get(made_for) {
            line = line.replace("sj1-…@192.0.2.10:7412", token);
        }
        for (host, address) in &self.addresses {
            line = line.replace(&format!("{host}:"), &format!("{address}:"));
        }
        let words = line
            .split(' ')
            .map(|word| word.trim_matches('\'').to_owned());
        words.collect()
    }

    fn sokudo(&self, host: &str, words: &[String]) -> sokudo_testkit::program::Sokudo {
        let home = match host {
            "control" => "home",
            other => other,
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        at(&self.place, home, &words)
    }

    /// Starts what stays, in place of what ran on that host before; returns what it says.
    fn stays<T>(
        &mut self,
        host: &str,
        words: &[String],
        more: &[&str],
        says: impl Fn(&str) -> Option<T>,
    ) -> T {
        if let Some(before) = self.running.remove(host) {
            before.interrupt();
            before.finish();
        }
        let words: Vec<String> = words
            .iter()
            .cloned()
            .chain(more.iter().map(|w| (*w).into()))
            .collect();
        let mut running = self.sokudo(host, &words).start();
        let said = running.wait_for(says);
        self.running.insert(host.to_owned(), running);
        said
    }

    fn agent(&mut self, host: &str, words: &[String]) {
        let more = ["--name", host];
        self.stays(host, words, &more, |line| {
            (line == "connected").then_some(())
        });
    }

    /// Carries a line out; false when what it needs is not there.
    fn carry_out(&mut self, host: &str, line: &str) -> bool {
        let (line, typed) = line.split_once('\n').unwrap_or((line, ""));
        let mut words = self.typed(line);
        let program = words.remove(0);
        if program == "zenohd" {
            self.running.remove(host);
            let settings = self.place.path().join(&words[1]);
            let Some(running) = zenohd::start(&settings) else {
                return false;
            };
            self.running.insert(host.to_owned(), running);
            return true;
        }
        let token = |line: &str| {
            line.split_once("--join ")
                .map(|(_, token)| token.to_owned())
        };
        match (words[0].as_str(), words.get(1).map(String::as_str)) {
            ("controller", _) => {
                let bind = format!("{}:7412", self.address("192.0.2.10"));
                let line = self.stays(host, &words, &["--bind", &bind], token);
                let (token, _) = line.split_once(' ').unwrap_or((&line, ""));
                self.tokens.insert("agent", token.to_owned());
            }
            ("agent", _) => {
                self.agent(host, &words);
                // The line is for every other host, too.
                for other in ["hostb", "hostc", "hostd"] {
                    if host == "hosta" && !self.running.contains_key(other) {
                        self.agent(other, &words);
                    }
                }
            }
            ("router", _) => {
                let bind = format!("{}:7412", self.address("tokyo1"));
                let more = ["--bind", &bind, "--name", host];
                self.stays(host, &words, &more, |line| {
                    line.starts_with("router of lab").then_some(())
                });
            }
            ("group", Some("token")) => {
                let ended = self.sokudo(host, &words).run();
                ended.expect_code(0);
                let made = token(ended.stdout.trim()).expect("a token");
                self.tokens.insert("router", made);
            }
            ("group", Some("zenohd")) => {
                // Written again, for another purpose.
                let _ = fs::remove_file(self.place.path().join("lab.json5"));
                words.extend(["--listen".into(), format!("{}:7447", self.address("zen1"))]);
                self.sokudo(host, &words).run().expect_code(0);
            }
            _ => self.measure(host, &words, typed),
        }
        true
    }

    /// Executes a command that uses the group, shorter.
    fn measure(&mut self, host: &str, words: &[String], typed: &str) {
        let mut names: Vec<&str> = self.running.keys().map(String::as_str).collect();
        names.retain(|name| !["control", "tokyo1", "zen1"].contains(name));
        if words[0] != "group" {
            has_members(&self.place, &names);
        }
        let mut words = words.to_vec();
        let kept = words.iter().position(|word| word == ">");
        let kept = kept.map(|at| words.split_off(at)[1].clone());
        let mut codes = vec![0];
        match words[0].as_str() {
            "check" => {
                // One layer of them, and what it finds depends on this machine.
                words.splice(1..1, ["rr".into()]);
                shorten(&mut words, &[("10min", "8s")]);
                if !words.contains(&"--within".into()) {
                    words.extend(["--within".into(), "8s".into()]);
                }
                codes.push(1);
            }
            "scenario" => shorten(&mut words, &[("20", "2"), ("1MB", "10kB"), ("1000", "10")]),
            "run" if words[1].ends_with(".js") => {
                let example = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("../..")
                    .join(&words[1]);
                words[1] = example.to_string_lossy().into_owned();
                let less = ["pairs=1,2", "size=10kB", "times=5", "repeat=1"];
                words.extend(less.iter().flat_map(|set| ["--set".into(), (*set).into()]));
            }
            _ => {}
        }
        let ended = self.sokudo(host, &words).stdin(typed).run();
        let code = ended.code.unwrap_or(-1);
        assert!(codes.contains(&code), "{ended}");
        if let Some(kept) = kept {
            self.place.write(&kept, &ended.stdout);
        }
    }
}

fn shorten(words: &mut [String], by: &[(&str, &str)]) {
    for word in words {
        if let Some((_, short)) = by.iter().find(|(long, _)| word == long) {
            *word = (*short).to_owned();
        }
    }
}

fn guide(lang: &str) -> Vec<Line> {
    let docs: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let text = fs::read_to_string(docs.join(lang).join("many-hosts.md"));
    lines(&text.expect("the guide"))
}

#[test]
fn every_command_of_the_guide_for_many_hosts_works() {
    let commands = guide("en");
    assert_eq!(commands, guide("ja"), "the same in both languages");
    assert!(commands.len() >= 18, "{commands:#?}");
    let mut world = World::new();
    let (mut without_router, begun) = (false, Instant::now());
    for (host, line) in &commands {
        // What hangs on a router that is not there is left out.
        if without_router && line.contains("zen1") {
            continue;
        }
        eprintln!("{:5.1} s {host}$ {line}", begun.elapsed().as_secs_f64());
        without_router |= !world.carry_out(host, line);
    }
    let all = world.place.records().len();
    assert!(all >= 7, "{all} records");
}
