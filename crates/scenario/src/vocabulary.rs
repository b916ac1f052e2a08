//! The words of the console.
//!
//! One list: the parser reads by it, `help` explains by it, and a test compares the documents with it.

/// A word and its other spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// As it is explained.
    pub name: &'static str,
    /// Other words with the same meaning.
    pub also: &'static [&'static str],
}

const fn entry(name: &'static str, also: &'static [&'static str]) -> Entry {
    Entry { name, also }
}

/// Commands to the console.
pub const CONSOLE: &[Entry] = &[
    entry("hosts", &["nodes"]),
    entry("syncTime", &[]),
    entry("all", &[]),
    entry("node", &[]),
    entry("stage", &[]),
    entry("fire", &[]),
    entry("autopairs", &[]),
    entry("waittime", &["wait"]),
    entry("sleep", &[]),
    entry("monitor", &[]),
    entry("waitallresults", &["waitresults"]),
    entry("help", &["?"]),
    entry("quit", &["exit"]),
];

/// Commands to a host, beside the workloads' own words.
pub const HOST: &[Entry] = &[
    entry("connect", &[]),
    entry("connectnode", &[]),
    entry("disconnect", &[]),
    entry("sendreceive-n", &[]),
    entry("set", &[]),
    entry("enter", &[]),
    entry("clr", &["clear"]),
];

impl Entry {
    /// True when the text is one of its spellings; upper and lower case are alike.
    pub fn is(&self, text: &str) -> bool {
        let mut all = std::iter::once(&self.name).chain(self.also);
        all.any(|spelling| spelling.eq_ignore_ascii_case(text))
    }

    /// Key of the message that explains it.
    pub fn help_key(&self) -> String {
        format!("console-help-{}", self.name.to_ascii_lowercase())
    }
}

/// The name of the word that a text spells; `None` when none of the list does.
pub fn name_of(text: &str, among: &[Entry]) -> Option<&'static str> {
    let found = among.iter().find(|entry| entry.is(text));
    found.map(|entry| entry.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_means_two_things() {
        let all = || CONSOLE.iter().chain(HOST);
        for entry in all() {
            for spelling in std::iter::once(&entry.name).chain(entry.also) {
                assert_eq!(all().filter(|other| other.is(spelling)).count(), 1);
            }
        }
    }

    /// A word that is listed and not read would be explained and refused.
    #[test]
    fn every_word_of_the_list_is_read() {
        let refused = |line: &str, says: &str| match crate::line::parse_line(line, 1) {
            Err(mistake) => mistake.to_string().contains(says),
            Ok(_) => false,
        };
        for entry in CONSOLE {
            assert!(
                !refused(entry.name, "not a word of the console"),
                "{entry:?}"
            );
        }
        for entry in HOST {
            let line = format!("all {}", entry.name);
            let read = crate::line::parse_line(&line, 1);
            let as_a_load = format!("{read:?}").contains("Load {");
            assert!(!as_a_load, "{entry:?}: {read:?}");
        }
    }
}
