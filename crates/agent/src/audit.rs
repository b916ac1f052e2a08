//! Audit log: which controller asked this host for what, and whether it was carried out.
//!
//! One JSON object per line, appended before anything is carried out. The file is renamed to
//! `audit.jsonl.1` when it has reached its maximum size, so that it never fills a disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sokudo_bus::Client;
use sokudo_model::{PhaseSpec, secrets};
use sokudo_net::files::owner_only;

/// Size at which a file is renamed and a new one begun, bytes.
const MAX_BYTES: u64 = 8 << 20;

/// A log of what controllers asked for.
pub struct Audit {
    path: PathBuf,
    file: Mutex<File>,
}

impl Audit {
    /// Opens the file for appending; creates it, readable by its owner alone, if it does not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(append(path)?),
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends that a controller did `what`, with further fields.
    ///
    /// Errors: the file cannot be written.
    pub fn note(&self, client: &Client, what: &str, about: Value) -> io::Result<()> {
        self.append(json!({
            "controller": client.name, "address": client.address, "what": what, "about": about,
        }))
    }

    /// Appends an object, with the time.
    ///
    /// Errors: the file cannot be written.
    pub fn append(&self, mut line: Value) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let unix_ns = now.map_or(0, |since| since.as_nanos() as u64);
        line["unix_ns"] = json!(unix_ns);
        let mut file = self.file.lock().unwrap_or_else(|held| held.into_inner());
        if file.metadata()?.len() > MAX_BYTES {
            let mut aside = self.path.clone().into_os_string();
            aside.push(".1");
            std::fs::rename(&self.path, aside)?;
            *file = append(&self.path)?;
        }
        // One call, so that lines of several sessions do not mix.
        file.write_all(format!("{line}\n").as_bytes())
    }
}

fn append(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    owner_only().append(true).open(path)
}

/// The fields of a phase in the log.
pub(crate) fn of_phase(spec: &PhaseSpec) -> Value {
    let own = spec.phase.flows.iter().filter(|flow| flow.from == spec.me);
    let to = own.filter_map(|flow| spec.hosts.get(flow.to as usize));
    let mut to: Vec<&str> = to.map(|host| host.address.as_str()).collect();
    to.dedup();
    to.truncate(64);
    json!({
        "run": spec.run.0, "phase": secrets::hidden(&spec.phase.name), "workload": spec.phase.workload,
        "duration_ns": spec.phase.duration_ns, "flows": spec.phase.flows.len(),
        "destinations": to,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_bound() {
        let dir = tempfile::tempdir().expect("a place");
        let path = dir.path().join("deep/audit.jsonl");
        let audit = Audit::open(&path).expect("a log");
        let client = Client {
            name: "boss\n".into(),
            address: "192.0.2.1:5".into(),
        };
        let long = "x".repeat(1 << 20);
        for _ in 0..20 {
            audit
                .note(&client, "prepare", json!({ "long": long }))
                .expect("room");
        }
        let length = |path: &Path| std::fs::metadata(path).expect("a file").len();
        assert!(length(&path) <= MAX_BYTES + (2 << 20));
        let aside = dir.path().join("deep/audit.jsonl.1");
        assert!(length(&aside) <= MAX_BYTES + (2 << 20));
        let text = std::fs::read_to_string(&path).expect("text");
        for line in text.lines() {
            let object: Value = serde_json::from_str(line).expect("an object per line");
            assert_eq!(object["controller"], "boss\n");
        }
    }
}
