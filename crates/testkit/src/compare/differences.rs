//! Differences between two executions of a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::recorder::Heard;
use super::results::{Row, rows};
use super::{Compared, Done};

/// Most lines of one difference that are told.
const MOST_LINES: usize = 200;

/// Compares what both programs did. `is_ordered`: one thread sends its requests one after the other.
pub(super) fn find(plan: PathBuf, ours: &Done, theirs: &Done, is_ordered: bool) -> Compared {
    let (own, their) = (rows(&ours.results), rows(&theirs.results));
    let mut compared = Compared {
        plan,
        requests: theirs.heard.len(),
        rows: their.len(),
        differences: Vec::new(),
    };
    let found = &mut compared.differences;
    if ours.failed.is_some() || theirs.failed.is_some() {
        let said = |done: &Done| done.failed.clone().unwrap_or("executed it".into());
        found.push(format!("ours: {}\nJMeter: {}", said(ours), said(theirs)));
        return compared;
    }
    let is_alone = is_ordered && threads(&their).len() <= 1;
    differ(
        "requests",
        &requests(ours, is_alone),
        &requests(theirs, is_alone),
        found,
    );
    differ("rows", &told(&own, ours), &told(&their, theirs), found);
    differ(
        "summary",
        &summary(&ours.printed),
        &summary(&theirs.printed),
        found,
    );
    differ("files", &written(ours), &written(theirs), found);
    compared
}

fn threads(rows: &[Row]) -> BTreeMap<&str, Vec<&Row>> {
    let mut threads: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        threads.entry(&row.thread).or_default().push(row);
    }
    threads
}

/// Notes what only one side has, in order.
fn differ(what: &str, ours: &[String], theirs: &[String], found: &mut Vec<String>) {
    if ours == theirs {
        return;
    }
    let mut lines = Vec::new();
    for (side, text) in only_one_has(ours, theirs) {
        lines.extend(text.lines().map(|line| format!("  {side}: {line}\n")));
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    let shown: String = lines.into_iter().take(MOST_LINES).collect();
    let (own, their) = (ours.len(), theirs.len());
    let mut says = format!("{what}: {own} here, {their} in JMeter\n{shown}");
    if more > 0 {
        says += &format!("  {more} more lines\n");
    }
    found.push(says);
}

/// The texts outside of the longest common subsequence, each with its side.
fn only_one_has<'a>(ours: &'a [String], theirs: &'a [String]) -> Vec<(&'static str, &'a str)> {
    let width = theirs.len() + 1;
    // Length of the longest common subsequence of the rests from `own` and `their` on.
    let mut common = vec![0u32; (ours.len() + 1) * width];
    for own in (0..ours.len()).rev() {
        for their in (0..theirs.len()).rev() {
            common[own * width + their] = match ours[own] == theirs[their] {
                true => common[(own + 1) * width + their + 1] + 1,
                false => common[(own + 1) * width + their].max(common[own * width + their + 1]),
            };
        }
    }
    let (mut own, mut their, mut found) = (0, 0, Vec::new());
    while own < ours.len() || their < theirs.len() {
        let is_same = own < ours.len() && their < theirs.len() && ours[own] == theirs[their];
        if is_same {
            (own, their) = (own + 1, their + 1);
            continue;
        }
        let takes_theirs = own == ours.len()
            || their < theirs.len()
                && common[own * width + their + 1] >= common[(own + 1) * width + their];
        if takes_theirs {
            found.push(("JMeter", theirs[their].as_str()));
            their += 1;
        } else {
            found.push(("ours  ", ours[own].as_str()));
            own += 1;
        }
    }
    found
}

/// The rows of each thread in their order, without what differs each time.
fn told(rows: &[Row], of: &Done) -> Vec<String> {
    let threads = threads(rows);
    let each = threads.into_iter().flat_map(|(thread, rows)| {
        rows.into_iter()
            .map(move |row| format!("{thread}: {}", plain(&row.text, of)))
    });
    each.collect()
}

/// Requests with their connections; those of several threads in any order, with their number of
/// connections.
fn requests(of: &Done, is_alone: bool) -> Vec<String> {
    let mut connection = None;
    let mut told: Vec<String> = of
        .heard
        .iter()
        .map(|heard| {
            let is_same = connection.replace(heard.connection) == Some(heard.connection);
            let way = if is_same { "same" } else { "other" };
            let text = request(heard, of);
            if is_alone {
                format!("{way} connection: {text}")
            } else {
                text
            }
        })
        .collect();
    if !is_alone {
        told.sort_unstable();
        let connections = of.heard.iter().map(|heard| heard.connection + 1).max();
        told.push(format!("{} connections", connections.unwrap_or(0)));
    }
    told
}

fn request(heard: &Heard, of: &Done) -> String {
    let mut text = heard.head.replace('\r', "");
    let mut body = String::from_utf8_lossy(&heard.body).into_owned();
    let boundary = text
        .split_once("boundary=")
        .and_then(|(_, rest)| rest.split([';', '\n']).next());
    if let Some(boundary) = boundary.map(str::to_owned) {
        body = body.replace(&boundary, "{boundary}");
        text = text.replace(&boundary, "{boundary}");
        // The boundary is as long as chance has it.
        text = without(&text, "Content-Length: ");
    }
    // Each program says its own version.
    if text.contains("User-Agent: Apache-HttpClient/") {
        text = without(&text, "User-Agent: ");
    }
    plain(&(text + &body), of).trim_end().to_owned()
}

fn without(text: &str, header: &str) -> String {
    let lines = text.split_inclusive('\n');
    let lines = lines.map(|line| match line.starts_with(header) {
        true => format!("{header}…\n"),
        false => line.to_owned(),
    });
    lines.collect()
}

/// A text without port, folder, moments and random names.
fn plain(text: &str, of: &Done) -> String {
    let text = text.replace(&of.folder.display().to_string(), "{out}");
    let text = match of.database {
        "" => text,
        name => text.replace(name, "{database}"),
    };
    let text = text.replace(&format!(":{}", of.port), ":{port}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let of_connection = out.ends_with("(conn=");
        let (word, behind) = rest.split_at(word.unwrap_or(rest.len()).max(first.len_utf8()));
        out.push_str(match word {
            word if is_moment(word) => "{ms}",
            word if of_connection && word.bytes().all(|b| b.is_ascii_digit()) => "{n}",
            word if is_uuid(word) => "{uuid}",
            word => word,
        });
        rest = behind;
    }
    out
}

/// Milliseconds since 1970 in these decades.
fn is_moment(word: &str) -> bool {
    word.len() == 13 && word.starts_with(['1', '2']) && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_uuid(word: &str) -> bool {
    let lengths = word.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && word.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// Samples and errors that the last line of each summary counts.
fn summary(printed: &str) -> Vec<String> {
    let mut last = BTreeMap::new();
    for line in printed.lines() {
        let Some((name, rest)) = line.split_once(" = ") else {
            continue;
        };
        let mut words = rest.split_whitespace();
        let samples = words.next().filter(|_| words.next() == Some("in"));
        let errors = rest
            .split_once("Err:")
            .and_then(|(_, rest)| rest.split_whitespace().next());
        if let (Some(samples), Some(errors)) = (samples, errors) {
            last.insert(
                name.trim().to_owned(),
                format!("{samples} samples, {errors} errors"),
            );
        }
    }
    let lines = last
        .into_iter()
        .map(|(name, counts)| format!("{name}: {counts}"));
    lines.collect()
}

fn written(of: &Done) -> Vec<String> {
    let each = of.files.iter();
    each.map(|(name, content)| plain(&format!("{name}:\n{content}"), of))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(connection: usize, path: &str) -> Heard {
        let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
        Heard {
            connection,
            head,
            body: Vec::new(),
        }
    }

    fn done() -> Done {
        let result = |label: &str| {
            format!(
                "<sample t=\"3\" ts=\"1795384325162\" s=\"true\" lb=\"{label}\" rc=\"200\" tn=\"Users 1-1\"/>"
            )
        };
        let results = result("outer").replace("/>", &format!(">{}</sample>", result("inner")));
        Done {
            heard: vec![heard(0, "/a"), heard(0, "/b")],
            results: format!("<testResults>{results}{}</testResults>", result("last")),
            printed: "summary =      2 in 00:00:01 =    2.0/s Avg: 1 Err:     0 (0.00%)".into(),
            files: vec![("one.txt".into(), "1".into())],
            port: 8080,
            folder: "/tmp/out".into(),
            ..Done::default()
        }
    }

    #[track_caller]
    fn found(change: impl FnOnce(&mut Done)) -> Vec<String> {
        let (mut ours, theirs) = (done(), done());
        change(&mut ours);
        find("plan.jmx".into(), &ours, &theirs, true).differences
    }

    #[test]
    fn times_and_ports_make_no_difference() {
        let moved = found(|done| {
            done.results = done.results.replace("t=\"3\"", "t=\"4\"");
            done.results = done.results.replace("1795384325162", "1795384325163");
            done.printed = done.printed.replace("2.0/s", "1.9/s");
            done.heard
                .iter_mut()
                .for_each(|heard| heard.head = heard.head.replace("8080", "9090"));
            done.port = 9090;
        });
        assert_eq!(moved, Vec::<String>::new());
    }

    #[test]
    fn everything_else_does() {
        let one = |says: &str, change: &dyn Fn(&mut Done)| {
            let found = found(change);
            assert_eq!(found.len(), 1, "{says}: {found:?}");
            assert!(found[0].contains(says), "{says}: {found:?}");
        };
        one("requests", &|done| done.heard.swap(0, 1));
        one("requests", &|done| done.heard[1].connection = 1);
        one("requests", &|done| done.heard[0].body.push(b'x'));
        one("rows", &|done| {
            done.results = done.results.replace("inner", "other")
        });
        one("rows", &|done| {
            done.results = done.results.replace("1-1", "1-2")
        });
        one("rows", &|done| {
            done.results = done.results.replacen("200", "201", 1)
        });
        one("summary", &|done| {
            done.printed = done.printed.replace("2 in", "3 in")
        });
        one("files", &|done| done.files.clear());
        one("JMeter: executed it", &|done| {
            done.failed = Some("refused".into())
        });
    }
}
