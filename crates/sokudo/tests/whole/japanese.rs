//! Commands that serve others and commands that describe this host, for a reader of Japanese: no line of theirs is an
//! English sentence.

use sokudo_testkit::program::Running;

use crate::vocabulary::{Place, place};

/// Words in a row from which on a line is a sentence: names of things have fewer.
const SENTENCE: usize = 4;

/// The part of a line that is a sentence in English, if any. What stands between backticks is typed, and so is
/// what follows the word of a command.
fn english(line: &str) -> Option<String> {
    let mut said = String::new();
    for (at, part) in line.split('`').enumerate() {
        if at % 2 == 0 {
            said.push_str(part.split("sokudo ").next().unwrap_or_default());
            said.push('|');
        }
    }
    // Columns are told apart by their distance; in a list a comma stands behind each name.
    let said = said.replace("  ", " | ");
    let is_word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase());
    let mut row: Vec<&str> = Vec::new();
    for word in said.split_whitespace() {
        match is_word(word) {
            true => row.push(word),
            false => row.clear(),
        }
        if row.len() >= SENTENCE {
            return Some(row.join(" "));
        }
    }
    None
}

/// Fails where a text has no Japanese, or a sentence in English.
pub fn is_japanese(what: &str, text: &str) {
    assert!(text.chars().any(|c| c > '\u{3000}'), "{what}: {text}");
    for line in text.lines() {
        assert_eq!(english(line), None, "{what}: {line}");
    }
}

fn in_japanese(place: &Place, words: &str) -> Running {
    place.sokudo(words).env("SOKUDO_LANG", "ja").start()
}

#[test]
fn sentences_are_found() {
    assert_eq!(
        english("  only who has the key 7 may come in"),
        Some("only who has the".into())
    );
    assert_eq!(english("`the target is here`: 開けません"), None);
    assert_eq!(english("次は: sokudo group token of a group"), None);
}

#[test]
fn what_this_host_can_do_and_allows_is_told_in_japanese() {
    let place = place();
    for words in ["doctor", "serve --print-policy", "runs"] {
        let ended = in_japanese(&place, words).finish();
        ended.expect_code(0);
        is_japanese(words, &ended.stdout);
    }
}

#[test]
fn commands_that_serve_tell_in_japanese_where_and_that_they_end() {
    let place = place();
    for (words, first) in [
        ("serve --bind 127.0.0.1:0", "で待ち受けています"),
        ("serve --bind 127.0.0.1:0 --new-key", "で待ち受けています"),
        ("serve --bind 127.0.0.1:0 --open", "で待ち受けています"),
        (
            "target app --set listen.address=127.0.0.1:0 --set admin.address=127.0.0.1:0",
            "ターゲット",
        ),
        ("demo --port 0", "http://"),
    ] {
        let mut running = in_japanese(&place, words);
        running.wait_for(|line| line.contains(first).then_some(()));
        running.interrupt();
        let ended = running.finish();
        ended.expect_code(0);
        is_japanese(words, &ended.stdout);
        is_japanese(words, &ended.stderr);
    }
}
