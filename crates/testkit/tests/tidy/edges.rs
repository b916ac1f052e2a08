//! Checks the dependencies between crates against the permitted ones. None points upwards.

use toml::{Table, Value};

use crate::{folders_in, none, text_of, texts_below};

/// Crate → the crates of this workspace that it may use. A new crate gets a line here; what the
/// line may hold is argued in ARCHITECTURE.md.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stats", &["pace", "model"]),
    ("pace", &["model"]),
    ("wire", &["model"]),
    ("store", &["model", "stats"]),
    ("i18n", &["model"]),
    ("net", &["model"]),
    ("replicate", &[]),
    ("sql", &[]),
    ("http", &["net", "stats", "model"]),
    ("bus", &["i18n", "wire", "net", "model"]),
    ("zenoh", &["i18n", "bus", "wire", "net", "model"]),
    ("script", &[]),
    ("groovy", &[]),
    ("scenario", &["i18n", "pace", "script", "model"]),
    ("jmeter", &["groovy", "pace", "script", "stats", "model"]),
    ("analyze", &["stats", "model"]),
    ("iperf", &["i18n", "model"]),
    ("out", &[]),
    ("link", &["net", "pace", "model"]),
    ("monitors", &["i18n", "net", "sql", "model"]),
    ("target", &["web", "sql", "net", "pace", "model"]),
    ("workload", &["i18n", "net", "pace", "stats", "model"]),
    (
        "load-network",
        &["i18n", "workload", "net", "pace", "stats", "model"],
    ),
    (
        "load-http",
        &[
            "i18n", "workload", "http", "jmeter", "net", "pace", "sql", "stats", "model",
        ],
    ),
    (
        "load-replicate",
        &["i18n", "replicate", "workload", "net", "stats", "model"],
    ),
    (
        "load-sql",
        &["i18n", "sql", "workload", "net", "pace", "stats", "model"],
    ),
    (
        "coherence",
        &[
            "i18n",
            "load-network",
            "workload",
            "net",
            "pace",
            "stats",
            "model",
        ],
    ),
    (
        "workloads",
        &[
            "i18n",
            "load-http",
            "load-network",
            "load-replicate",
            "load-sql",
            "workload",
            "stats",
            "model",
        ],
    ),
    (
        "agent",
        &[
            "i18n",
            "bus",
            "wire",
            "workloads",
            "workload",
            "monitors",
            "net",
            "model",
        ],
    ),
    (
        "controller",
        &[
            "i18n",
            "bus",
            "wire",
            "scenario",
            "store",
            "workloads",
            "load-http",
            "load-network",
            "load-replicate",
            "load-sql",
            "target",
            "workload",
            "net",
            "stats",
            "model",
        ],
    ),
    ("report", &["analyze", "store", "i18n", "stats", "model"]),
    ("web", &["analyze", "store", "i18n", "stats", "model"]),
    (
        "session",
        &[
            "agent",
            "analyze",
            "controller",
            "i18n",
            "load-http",
            "load-network",
            "load-replicate",
            "load-sql",
            "model",
            "monitors",
            "replicate",
            "report",
            "scenario",
            "stats",
            "store",
            "web",
            "wire",
            "workload",
            "workloads",
        ],
    ),
];

/// Crates that may use every other one: the binary puts all pieces together, the testkit serves
/// tests only.
const MAY_USE_ALL: &[&str] = &["sokudo", "testkit"];

#[test]
fn nothing_points_upwards() {
    let mut offences = Vec::new();
    for (krate, manifest) in manifests() {
        if MAY_USE_ALL.contains(&krate.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == krate) else {
            offences.push(format!(
                "crates/{krate} is not in the table of this test: add what it may use"
            ));
            continue;
        };
        for (kind, used) in edges(&manifest) {
            let fine =
                allowed.contains(&used.as_str()) || kind == "dev-dependencies" && used == "testkit";
            if !fine {
                offences.push(format!("{krate} → {used} ({kind}) is not allowed"));
            }
        }
    }
    none(offences);
}

#[test]
fn the_testkit_serves_tests_only() {
    let uses = |manifest: &Table| {
        edges(manifest)
            .iter()
            .any(|(kind, used)| used == "testkit" && *kind != "dev-dependencies")
    };
    let offenders = manifests().into_iter().filter(|(_, m)| uses(m));
    none(
        offenders
            .map(|(krate, _)| format!("{krate} → testkit outside [dev-dependencies]"))
            .collect(),
    );
}

#[test]
fn every_dependency_is_used() {
    let mut offences = Vec::new();
    for (krate, manifest) in manifests() {
        let code = texts_below(&format!("crates/{krate}"), &["rs"]);
        for (kind, name) in dependencies(&manifest) {
            let library = match name.as_str() {
                "md-5" => "md5".to_owned(),
                name => name.replace('-', "_"),
            };
            if !code.iter().any(|(_, text)| has_word(text, &library)) {
                offences.push(format!("crates/{krate}: nothing uses `{name}` ({kind})"));
            }
        }
    }
    none(offences);
}

#[test]
fn manifests_have_one_shape() {
    let mut offences = Vec::new();
    for (krate, manifest) in manifests() {
        let mut expect = |holds: bool, what: &str| {
            if !holds {
                offences.push(format!("crates/{krate}/Cargo.toml: {what}"));
            }
        };
        let package = manifest.get("package").and_then(Value::as_table);
        let text = |key: &str| package.and_then(|p| p.get(key)).and_then(Value::as_str);
        let name = match krate.as_str() {
            "sokudo" => krate.clone(),
            folder => format!("sokudo-{folder}"),
        };
        expect(
            text("name") == Some(&name),
            "the name does not follow the folder",
        );
        expect(text("description").is_some(), "no description");
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            let inherited = package
                .and_then(|p| p.get(key))
                .and_then(|v| v.get("workspace"))
                .and_then(Value::as_bool);
            expect(
                inherited == Some(true),
                &format!("`{key}` is not the workspace's"),
            );
        }
        // `net` states its own lints because it is where `unsafe` lives.
        let lints = manifest.get("lints").and_then(|l| l.get("workspace"));
        let inherited = lints.and_then(Value::as_bool) == Some(true);
        expect(inherited || krate == "net", "lints are not the workspace's");
    }
    none(offences);
}

/// True when `word` stands in `text` as a whole.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

/// Folder name and manifest of each crate.
fn manifests() -> Vec<(String, Table)> {
    let parsed = |krate: String| {
        let text = text_of(format!("crates/{krate}/Cargo.toml").as_ref())?;
        let manifest = text
            .parse()
            .unwrap_or_else(|e| panic!("crates/{krate}/Cargo.toml: {e}"));
        Some((krate, manifest))
    };
    folders_in("crates")
        .into_iter()
        .filter_map(parsed)
        .collect()
}

/// Kind and name of everything that a crate depends on, for all systems.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets
        .into_iter()
        .flat_map(|targets| targets.values())
        .filter_map(Value::as_table)
        .chain([manifest]);
    let mut found = Vec::new();
    for table in tables {
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let used = table.get(kind).and_then(Value::as_table);
            let names = used.into_iter().flat_map(|used| used.keys());
            found.extend(names.map(|name| (kind, name.clone())));
        }
    }
    found
}

/// The crates of this workspace among them, by folder.
fn edges(manifest: &Table) -> Vec<(&'static str, String)> {
    let own = |(kind, name): (&'static str, String)| {
        let folder = name.strip_prefix("sokudo-")?.to_owned();
        Some((kind, folder))
    };
    dependencies(manifest).into_iter().filter_map(own).collect()
}
