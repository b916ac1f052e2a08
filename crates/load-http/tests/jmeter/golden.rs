//! Comparison with a recording in which ports, boundaries and times differ each time.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::recorder::Heard;

/// Requests and rows as text, case by case, without what differs each time. Of results with parts
/// only the results themselves.
pub fn told(names: &[&str], heard: &[Heard], rows: &str, ports: &[(u16, &str)]) -> String {
    let mut out = String::new();
    let rows = rows_of(rows);
    let _ = writeln!(out, "columns: {}", rows.first().map_or("", |row| row));
    for name in names {
        let _ = writeln!(out, "\n=== {name}");
        let mut last = None;
        let requests: Vec<&Heard> = heard.iter().filter(|heard| is_of(heard, name)).collect();
        for request in &requests {
            let way = match last {
                None => "",
                Some(same) if same == request.connection => " on the same connection",
                Some(_) => " on another connection",
            };
            last = Some(request.connection);
            let _ = writeln!(out, "--- request{way}");
            out.push_str(&request_text(&request.bytes));
        }
        let is_own = |row: &&String| row.split(',').nth(2) == Some(name);
        let own: Vec<&String> = rows.iter().filter(is_own).collect();
        // Where the client itself follows redirects only the last request is counted.
        let counted = if name.contains("-auto") {
            1
        } else {
            requests.len()
        };
        let counted = requests.iter().rev().take(counted);
        let agents: usize = counted.map(|heard| agent_bytes(&heard.bytes)).sum();
        let has_parts = requests
            .iter()
            .any(|heard| String::from_utf8_lossy(&heard.bytes).contains("multipart/form-data"));
        for row in &own {
            let _ = writeln!(
                out,
                "--- row\n{}",
                comparable(row, agents / own.len(), has_parts)
            );
        }
    }
    without_ports(out, ports)
}

/// The same of results with parts, whose requests all have a client's name of their own. Where the
/// name says `at-once`, requests come in any order and on any connection.
pub fn told_with_parts(names: &[&str], heard: &[Heard], rows: &str, port: u16) -> String {
    let rows = rows_of(rows);
    let mut out = String::new();
    for name in names {
        let _ = writeln!(out, "\n=== {name}");
        let mut last = None;
        let mut requests: Vec<String> = Vec::new();
        for request in heard.iter().filter(|heard| is_of(heard, name)) {
            let is_same = last.replace(request.connection) == Some(request.connection);
            let way = match requests.is_empty() || is_same || name.contains("at-once") {
                true => "",
                false => " on another connection",
            };
            requests.push(format!(
                "--- request{way}\n{}",
                request_text(&request.bytes)
            ));
        }
        if name.contains("at-once") {
            requests.sort_unstable();
        }
        out.extend(requests);
        for row in rows.iter().filter(|row| is_part_of(row, name)) {
            let mut row = comparable(row, 0, false);
            if name.contains("at-once") {
                // The threads of JMeter's client mix up what they have received.
                let mut fields = fields_of(&row);
                fields[9] = "B".into();
                row = fields.join(",");
            }
            let _ = writeln!(out, "--- row\n{row}");
        }
    }
    without_ports(out, &[(port, "port")])
}

/// True for the row of this name and those of its parts.
fn is_part_of(row: &str, name: &str) -> bool {
    let label = row.split(',').nth(2).unwrap_or_default();
    let Some(rest) = label.strip_prefix(name) else {
        return false;
    };
    let digits = rest.strip_prefix('-').unwrap_or("x");
    rest.is_empty() || digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A text with words instead of ports.
pub fn without_ports(mut text: String, ports: &[(u16, &str)]) -> String {
    for (port, word) in ports {
        text = text.replace(&format!(":{port}"), &format!(":{{{word}}}"));
    }
    text
}

fn is_of(request: &Heard, name: &str) -> bool {
    let line = request.bytes.split(|byte| *byte == b'\r').next();
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    let path = line.split(' ').nth(1).unwrap_or_default();
    path.trim_start_matches('/').split(['/', '?']).next() == Some(name)
}

/// A request, every line on its own, what is not printable escaped, without its random parts.
fn request_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'\r' => {}
            b'\n' | b' '..=b'~' => text.push(char::from(*byte)),
            other => {
                let _ = write!(text, "\\x{other:02x}");
            }
        }
    }
    if let Some(boundary) = text
        .split_once("boundary=")
        .and_then(|(_, rest)| rest.split(['\n', ';']).next())
        .map(str::to_owned)
    {
        // Its length goes into the count of the body.
        text = text.replace(&boundary, "{boundary}");
        text = without(&text, "Content-Length: ");
    }
    text = without(&text, "User-Agent: ");
    // Two random numbers go into a proof.
    for part in [" response=\"", " cnonce=\""] {
        if let Some((before, value)) = text.split_once(part).filter(|_| text.contains(" cnonce="))
            && let Some((_, after)) = value.split_once('"')
        {
            text = format!("{before}{part}…\"{after}");
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Leaves out the value of a header.
fn without(text: &str, header: &str) -> String {
    let lines = text.split_inclusive('\n');
    let lines = lines.map(|line| match line.starts_with(header) {
        true => format!("{header}…\n"),
        false => line.to_owned(),
    });
    lines.collect()
}

/// Rows of a file of results, the columns first; a row may hold line ends.
pub fn rows_of(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for line in text.lines() {
        let stamp = line.split(',').next().unwrap_or_default();
        let begins = stamp.len() == 13 && stamp.bytes().all(|byte| byte.is_ascii_digit());
        let is_row = rows.len() > 1;
        match rows.last_mut() {
            Some(row) if is_row && !begins => {
                row.push('\n');
                row.push_str(line);
            }
            _ => rows.push(line.to_owned()),
        }
    }
    rows
}

/// Length of the client's own name in a request; 0 where the plan gives another.
fn agent_bytes(request: &[u8]) -> usize {
    let text = String::from_utf8_lossy(request);
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("User-Agent: "));
    value
        .filter(|value| !value.starts_with("own"))
        .map_or(0, str::len)
}

/// A row without its times; without the length of the client's name in `sentBytes`, or without all
/// of them where a boundary of any length was sent; and, where there was no answer, without both
/// counts of bytes: JMeter counts the characters of a Java stack trace as received, and the last of
/// too many redirects twice as sent.
pub fn comparable(row: &str, agent_bytes: usize, has_parts: bool) -> String {
    let mut fields = fields_of(row);
    // …,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,Encoding,SampleCount,
    // ErrorCount,IdleTime,Connect
    fields[0] = "T".into();
    fields[1] = "E".into();
    fields[14] = "L".into();
    fields[18] = "I".into();
    fields[19] = "C".into();
    let lost = fields[3].starts_with("Non HTTP");
    if lost {
        fields[9] = "B".into();
    }
    let sent: usize = fields[10].parse().unwrap_or(0);
    if has_parts || lost && sent > 0 {
        fields[10] = "S".into();
    } else if sent > 0 {
        fields[10] = sent.saturating_sub(agent_bytes).to_string();
    }
    fields.join(",")
}

/// Fields of a row as they stand there, with their quotes.
pub fn fields_of(row: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in row.chars() {
        quoted ^= character == '"';
        match fields.last_mut() {
            Some(field) if character != ',' || quoted => field.push(character),
            _ => fields.push(String::new()),
        }
    }
    fields
}

/// Path of a recording.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/jmeter/golden")
        .join(name)
}

/// Compares what JMeter did today with a recording, or makes the recording anew.
#[track_caller]
pub fn compare_or_bless(name: &str, today: &str) {
    if std::env::var_os("SOKUDO_BLESS").is_some() {
        std::fs::write(path(name), today).expect("write the recording");
    }
    let recorded = std::fs::read_to_string(path(name)).unwrap_or_default();
    assert_same(today, &recorded);
}

/// Fails with both texts, line by line from the first difference of each case, unless they are
/// the same.
#[track_caller]
pub fn assert_same(ours: &str, golden: &str) {
    let cases = |text: &str| -> Vec<String> { text.split("\n=== ").map(str::to_owned).collect() };
    let (ours, golden) = (cases(ours), cases(golden));
    let mut differing = String::new();
    for (own, theirs) in ours.iter().zip(&golden) {
        if own != theirs {
            let _ = writeln!(differing, "=== ours: {own}\n=== JMeter: {theirs}\n");
        }
    }
    assert!(differing.is_empty(), "\n{differing}");
    assert_eq!(ours.len(), golden.len(), "other cases");
}
