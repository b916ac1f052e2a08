//! Checks what each source file may contain.

use std::path::{Path, PathBuf};

use crate::{files_below, none, text_of, texts_below};

/// Crates whose system calls need `unsafe`; elsewhere the compiler denies it.
const MAY_BE_UNSAFE: &[&str] = &["net"];

/// Crates where single places may be `unsafe` under an `allow` that says so.
const MAY_ALLOW_UNSAFE: &[&str] = &["monitors"];

/// Crates that may ask for the operating system by name.
const MAY_KNOW_THE_SYSTEM: &[&str] = &["net", "http", "monitors", "replicate", "testkit"];

/// Crates that open nothing, read no clock and start no thread.
const PURE: &[&str] = &[
    "model", "stats", "pace", "wire", "analyze", "jmeter", "scenario",
];

/// Names that a pure crate does not use. Addresses are data; sockets are not.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::process",
    "std::thread",
    "thread::spawn",
    "Instant::now",
    "SystemTime",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "File::open",
];

/// Marks of unfinished work, as they stand in code.
const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "dbg!", "#[ignore"];

/// Marks of unfinished work, as they stand in comments.
const UNFINISHED_REMARKS: &[&str] = &["FIXME", "TODO", "XXX"];

/// Longest source file in lines: beyond it a reader loses the thread.
const LINES_MAX: usize = 900;

#[test]
fn unsafe_stays_in_its_crates() {
    let mut offences = Vec::new();
    for source in sources() {
        let marked = MAY_ALLOW_UNSAFE.contains(&source.krate.as_str())
            && source.code.contains("allow(unsafe_code");
        if MAY_BE_UNSAFE.contains(&source.krate.as_str()) || marked {
            continue;
        }
        if has_word(&source.code, "unsafe") {
            offences.push(source.says("`unsafe` belongs into crates/net"));
        }
    }
    none(offences);
}

#[test]
fn operating_systems_are_named_in_their_crates_only() {
    none(
        sources()
            .iter()
            .filter(|source| !MAY_KNOW_THE_SYSTEM.contains(&source.krate.as_str()))
            .filter(|source| has_word(source.product_code(), "target_os"))
            .map(|source| source.says("`target_os` belongs into net, http, monitors or replicate"))
            .collect(),
    );
}

#[test]
fn pure_crates_do_no_io_and_know_no_time() {
    let mut offences = Vec::new();
    for source in sources() {
        if !PURE.contains(&source.krate.as_str()) || !source.is_product() {
            continue;
        }
        for word in IMPURE
            .iter()
            .filter(|word| source.product_code().contains(**word))
        {
            offences.push(source.says(&format!("`{word}` in a crate without I/O and clock")));
        }
    }
    none(offences);
}

#[test]
fn nothing_is_left_unfinished() {
    let mut offences = Vec::new();
    for source in sources() {
        for mark in UNFINISHED
            .iter()
            .filter(|mark| source.code.contains(**mark))
        {
            offences.push(source.says(&format!("`{mark}`")));
        }
        // This file names the marks itself.
        let remarks = UNFINISHED_REMARKS
            .iter()
            .filter(|_| !source.path.ends_with(file!()));
        for mark in remarks.filter(|mark| has_word(&source.text, mark)) {
            offences.push(source.says(&format!("`{mark}`")));
        }
    }
    none(offences);
}

#[test]
fn every_module_says_what_it_answers() {
    none(
        sources()
            .iter()
            .filter(|source| !source.path.ends_with("tests.rs"))
            .filter(|source| !source.text.trim_start().starts_with("//!"))
            .map(|source| source.says("does not begin with module documentation (`//!`)"))
            .collect(),
    );
}

#[test]
fn files_stay_readable() {
    let mut offences = Vec::new();
    let everywhere = [
        ("crates", "rs"),
        ("ui", "ts"),
        ("bench", "sh"),
        ("zoo", "rs"),
    ];
    for (directory, extension) in everywhere {
        for (path, text) in texts_below(directory, &[extension]) {
            let lines = text.lines().count();
            if lines > LINES_MAX {
                offences.push(format!("{}: {lines} lines, split it", path.display()));
            }
        }
    }
    none(offences);
}

#[test]
fn no_path_of_anybodys_machine_is_in_the_tree() {
    // Put together here so that this file does not match itself.
    let homes = ["home", "root", "Users", "work"].map(|folder| format!("/{folder}/"));
    let mut offences = Vec::new();
    for path in files_below("") {
        let Some(text) = text_of(&path) else { continue };
        for (index, line) in text.lines().enumerate() {
            if homes.iter().any(|home| names_directory(line, home)) {
                let number = index + 1;
                offences.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    none(offences);
}

/// One Rust file of the workspace.
pub struct Source {
    /// Folder of its crate.
    pub krate: String,
    /// Its path, relative to the root.
    pub path: PathBuf,
    text: String,
    /// The text with comments and the contents of strings blanked out.
    code: String,
}

impl Source {
    fn says(&self, what: &str) -> String {
        format!("{}: {what}", self.path.display())
    }

    /// False for tests and benchmarks, which may do what they like.
    pub fn is_product(&self) -> bool {
        let file = self.path.file_name().unwrap_or_default();
        let in_src = self.path.components().any(|part| part.as_os_str() == "src");
        in_src && file != "tests.rs"
    }

    /// The code in front of the tests at the bottom of the file.
    pub fn product_code(&self) -> &str {
        self.before_tests(&self.code)
    }

    /// The same with comments and the contents of strings.
    pub fn product_text(&self) -> &str {
        self.before_tests(&self.text)
    }

    fn before_tests<'a>(&self, text: &'a str) -> &'a str {
        if !self.is_product() {
            return "";
        }
        let product = text.split("#[cfg(test)]\nmod tests {").next();
        product.unwrap_or_default()
    }
}

/// Every Rust file of the workspace.
pub fn sources() -> Vec<Source> {
    texts_below("crates", &["rs"])
        .into_iter()
        .filter_map(|(path, text)| {
            let krate = path.components().nth(1)?.as_os_str();
            Some(Source {
                krate: krate.to_string_lossy().into_owned(),
                code: code_only(&text),
                path,
                text,
            })
        })
        .collect()
}

/// True when `word` stands in `text` with no letter, digit or underscore beside it.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

/// True when the line names a place below this absolute directory, rather than holding the same
/// letters as part of a relative path or an address.
fn names_directory(line: &str, directory: &str) -> bool {
    line.match_indices(directory).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let inside_path = |c: char| c.is_alphanumeric() || "_-./}*$".contains(c);
        !before.is_some_and(inside_path)
    })
}

/// Blanks out comments and the contents of string and character literals; line ends stay.
fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = length_of_non_code(rest, out.ends_with(|c: char| c.is_alphanumeric()));
        if skipped == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            let blank = rest[..skipped]
                .chars()
                .map(|c| if c == '\n' { c } else { ' ' });
            out.extend(blank);
            rest = &rest[skipped..];
        }
    }
    out
}

/// Bytes of the comment or literal that `rest` begins with; 0 when it begins with code.
fn length_of_non_code(rest: &str, inside_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return length_of_block_comment(rest);
    }
    if rest.starts_with('"') {
        return length_of_quoted(rest, '"');
    }
    if rest.starts_with('r') && !inside_word {
        let hashes = rest[1..].bytes().take_while(|b| *b == b'#').count();
        if rest[1 + hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = 2 + hashes;
            return rest[body..]
                .find(&end)
                .map_or(rest.len(), |at| body + at + end.len());
        }
    }
    // A character, not a lifetime: 'x' or '\…'.
    let mut chars = rest.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some('\\'), _) => length_of_quoted(rest, '\''),
        (Some('\''), Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

fn length_of_quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if !escaped && c == quote {
            return at + c.len_utf8();
        }
        escaped = !escaped && c == '\\';
    }
    rest.len()
}

fn length_of_block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest.as_bytes()[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.as_bytes()[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

#[test]
fn comments_and_literals_are_not_code() {
    let check = |text: &str, left: &str| {
        let code = code_only(text);
        let words: Vec<_> = code.split_whitespace().collect();
        assert_eq!(words.join(" "), left, "{text}");
        assert_eq!(code.chars().count(), text.chars().count(), "{text}");
        assert_eq!(code.lines().count(), text.lines().count(), "{text}");
    };
    check("a // unsafe\nb", "a b");
    check("a /* x /* y */ z */ b", "a b");
    check(r#"f("un\"safe") + 1"#, "f( ) + 1");
    check("r#\"a \" b\"# c", "c");
    check("bar\"x\"", "bar");
    check("<'a> 'b' '\\'' 'é' c", "<'a> c");
}

#[test]
fn directories_are_told_from_parts_of_paths() {
    assert!(names_directory("cd /top/x", "/top/"));
    assert!(names_directory("\"/top/x\"", "/top/"));
    assert!(!names_directory("docs/top/x", "/top/"));
    assert!(!names_directory("https://example.org/top/x", "/top/"));
    assert!(!names_directory("$dir/top/x", "/top/"));
    assert!(
        Path::new(file!()).is_relative(),
        "the tests name this file relative to the root"
    );
}
