//! Checks that each plugin folder has the files of its siblings and a line in its registry.

use std::path::Path;

use crate::{folders_in, none, root, text_of};

/// Kinds of plugins that one folder and one line add to sokudo.
const KINDS: &[Kind] = &[
    Kind {
        folder: "crates/load-network/src",
        files: &[
            "mod.rs",
            "options.rs",
            "client.rs",
            "server.rs",
            "protocol.rs",
            "tests.rs",
        ],
        registry: "crates/load-network/src/lib.rs",
        // The far end is any name server, the protocol is that of `net::dns`.
        without: &[("dns", &["server.rs", "protocol.rs"])],
        others: &[],
    },
    Kind {
        folder: "crates/load-http/src",
        // The far end is any web server, the protocol is the engine's.
        files: &["mod.rs", "options.rs", "client.rs", "tests.rs"],
        registry: "crates/load-http/src/lib.rs",
        without: &[],
        others: &[],
    },
    Kind {
        folder: "crates/load-sql/src",
        // The far end is any database, the protocol is the engine's.
        files: &["mod.rs", "options.rs", "client.rs", "tests.rs"],
        registry: "crates/load-sql/src/lib.rs",
        without: &[],
        // What all of them share, and what is done to their tables outside of a run.
        others: &["drive", "dump", "settings"],
    },
    Kind {
        folder: "crates/monitors/src",
        files: &["mod.rs", "parse.rs"],
        registry: "crates/monitors/src/lib.rs",
        without: &[],
        // Facts that are read once, what can be tried, sources of several, and what some share; not series.
        others: &["database", "environment", "facilities", "netlink"],
    },
    Kind {
        folder: "crates/report/src/sections",
        files: &["mod.rs"],
        registry: "crates/report/src/sections/mod.rs",
        without: &[],
        others: &[],
    },
];

struct Kind {
    folder: &'static str,
    files: &'static [&'static str],
    registry: &'static str,
    /// Folders without some of the files, for a reason.
    without: &'static [(&'static str, &'static [&'static str])],
    /// Folders beside them that are something else.
    others: &'static [&'static str],
}

impl Kind {
    fn needs(&self, name: &str, file: &str) -> bool {
        let excused = |(folder, files): &(&str, &[&str])| *folder == name && files.contains(&file);
        !self.without.iter().any(excused)
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let is_other = |name: &String| self.others.contains(&name.as_str());
        folders_in(self.folder)
            .into_iter()
            .filter(move |name| !is_other(name))
    }
}

#[test]
fn folders_have_the_shape_of_their_kind() {
    let mut offences = Vec::new();
    for kind in KINDS {
        for name in kind.names() {
            for file in kind.files.iter().filter(|file| kind.needs(&name, file)) {
                let path = format!("{}/{name}/{file}", kind.folder);
                if !root().join(&path).is_file() {
                    offences.push(format!("{path} is missing"));
                }
            }
        }
    }
    none(offences);
}

#[test]
fn folders_are_in_their_registry() {
    let mut offences = Vec::new();
    for kind in KINDS {
        let Some(list) = text_of(Path::new(kind.registry)) else {
            continue;
        };
        let registry = list.split_once("REGISTRY").map_or("", |(_, after)| after);
        for name in kind.names() {
            if !registry.contains(&format!("{name}::")) {
                let (folder, list) = (kind.folder, kind.registry);
                offences.push(format!("{folder}/{name} is not in the REGISTRY of {list}"));
            }
        }
    }
    none(offences);
}

#[test]
fn rules_are_in_their_registry() {
    let rules = root().join("crates/analyze/src/rules");
    let mut offences = Vec::new();
    let list = text_of(Path::new("crates/analyze/src/rules/mod.rs"))
        .or_else(|| text_of(Path::new("crates/analyze/src/lib.rs")))
        .unwrap_or_default();
    let registry = list.split_once("REGISTRY").map_or("", |(_, after)| after);
    for entry in std::fs::read_dir(rules).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let rule = name.strip_suffix(".rs").unwrap_or(&name);
        let listed = registry.contains(&format!("{rule}::"));
        if !listed && !["mod", "tests"].contains(&rule) {
            offences.push(format!("rule `{rule}` is not in the REGISTRY of analyze"));
        }
    }
    none(offences);
}
