//! A plan with the files that it names, as sent to other generators.
//!
//! ```text
//! host that gives the command                         generators
//!   plan, data files ─► read once, all noted ─ offer ─► files in memory, by the plan's own words
//! ```
//!
//! A generator opens no file of its own for a plan that it was sent: a path is a name there and
//! nothing else, however it is written.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sokudo_http::Targets;
use sokudo_jmeter::check::files_of_scripts;
use sokudo_jmeter::files::{Files, MemoryFiles};
use sokudo_jmeter::plan::{Id, Plan, SamplerKind};
use sokudo_jmeter::run::{SampleRow, Sink};
use sokudo_model::{Refusal, Text};
use sokudo_workload::refusal::{failed, operator};

use super::generator::NotStarted;
use super::options::JmxOptions;
use super::reach::folder_of;
use super::read::{PlanFiles, Prepared, plan_bytes, read_text};

/// Most bytes of a plan and its files: what one message between hosts carries.
const MOST_BYTES: usize = 10 << 20;
/// Most files.
const MOST_FILES: usize = 1_000;

/// A plan with the files that it names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Bundle {
    /// Text of the plan.
    pub plan: Vec<u8>,
    /// Files by the path that the plan has for them.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// As it travels.
#[derive(Serialize, Deserialize)]
struct Written {
    plan: String,
    files: BTreeMap<String, String>,
}

impl Bundle {
    /// Reads a plan as if it were to be executed here, and keeps everything that it asked for.
    ///
    /// Errors: the plan has errors; it names files that it may not use; all together are too large.
    pub fn collect(options: &JmxOptions, seed: u64) -> Result<Self, Refusal> {
        let files = Arc::new(Noting::new(PlanFiles::of(options)));
        let collected = Self::collect_from(options, seed, &files);
        match files.denied() {
            // Whatever else is wrong, it follows from this.
            Some(path) => Err(operator(
                Text::new("error-jmx-file-outside").with("path", &path),
                Text::new("error-jmx-file-outside-hint").with("path", &path),
            )),
            None => collected,
        }
    }

    fn collect_from(options: &JmxOptions, seed: u64, files: &Arc<Noting>) -> Result<Self, Refusal> {
        let plan = plan_bytes(&options.plan)?;
        let folder = folder_of(&options.plan);
        let is_file = |path: &&str| !folder.join(path).is_dir() && !Path::new(path).is_dir();
        let with = options.with.iter().map(String::as_str).filter(is_file);
        let reading = read_text(options, seed, &plan, &**files);
        let prepared = Prepared::with_files(reading, options, seed, Arc::clone(files) as _)?;
        prepared
            .test(&Arc::new(Targets::new()), Arc::new(Nobody))
            .map_err(|problems| Refusal::from(NotStarted::Plan(problems)))?;
        for path in sent_files(&prepared.plan).chain(with) {
            files.read(path, MOST_BYTES as u64).map_err(|error| {
                operator(
                    Text::new("error-jmx-file-unreadable")
                        .with("path", path)
                        .with("error", error),
                    Text::new("error-jmx-file-unreadable-hint"),
                )
            })?;
        }
        // What is not there may be written by a script before it is read, and is told when it is missed.
        for file in files_of_scripts(&prepared.plan) {
            if !file.is_written && !file.is_computed {
                let _ = files.read_here(&file.path, MOST_BYTES as u64);
            }
        }
        let bundle = Self {
            plan,
            files: files.taken(),
        };
        bundle.check_size()?;
        Ok(bundle)
    }

    fn check_size(&self) -> Result<(), Refusal> {
        let files = self.files.values().map(Vec::len);
        let bytes = self.plan.len() + files.sum::<usize>();
        match bytes > MOST_BYTES || self.files.len() > MOST_FILES {
            false => Ok(()),
            true => Err(operator(
                format!(
                    "the plan and its {} files are {:.1} MiB; generators are sent at most {} MiB and \
                     {MOST_FILES} files",
                    self.files.len(),
                    bytes as f64 / f64::from(1 << 20),
                    MOST_BYTES >> 20
                ),
                Text::new("error-jmx-shorten-hint"),
            )),
        }
    }

    /// As it travels.
    pub fn to_text(&self) -> String {
        let files = self.files.iter();
        let written = Written {
            plan: BASE64.encode(&self.plan),
            files: files
                .map(|(path, bytes)| (path.clone(), BASE64.encode(bytes)))
                .collect(),
        };
        // Texts: there is nothing that JSON cannot hold.
        json!(written).to_string()
    }

    /// From what another host sent. Errors: it is not a valid bundle, or too large.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let wrong =
            |what: String| failed(Text::new("error-jmx-plan-damaged").with("what", what), None);
        let written: Written = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let bytes = |text: &String| BASE64.decode(text).map_err(|e| wrong(e.to_string()));
        let files = written.files.iter();
        let files = files.map(|(path, text)| Ok((path.clone(), bytes(text)?)));
        let bundle = Self {
            plan: bytes(&written.plan)?,
            files: files.collect::<Result<_, Refusal>>()?,
        };
        bundle.check_size()?;
        Ok(bundle)
    }

    /// The plan, ready to be started with nothing but what was sent.
    pub fn prepare(self, options: &JmxOptions, seed: u64) -> Result<Prepared, Refusal> {
        let files = Arc::new(MemoryFiles(self.files));
        let reading = read_text(options, seed, &self.plan, &*files);
        Prepared::with_files(reading, options, seed, files)
    }
}

/// Takes any bytes for what another host sent: refuses them, or holds what it can send on unchanged.
/// For fuzzing.
pub fn any_bytes(bytes: &[u8]) {
    if let Some(bundle) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| Bundle::parse(text).ok())
    {
        assert_eq!(Bundle::parse(&bundle.to_text()), Ok(bundle));
    }
}

/// Files that requests send, where their names are known before.
fn sent_files(plan: &Plan) -> impl Iterator<Item = &str> {
    let samplers = plan.samplers.iter();
    let requests = samplers.filter_map(|sampler| match &sampler.kind {
        SamplerKind::Http(request) => Some(request),
        _ => None,
    });
    let files = requests.flat_map(|request| &request.files);
    let paths = files.filter_map(|file| file.path.constant());
    paths.filter(|path| !path.is_empty())
}

/// Files that remember what was read of them.
struct Noting {
    files: PlanFiles,
    /// The first path that the plan may not use.
    denied: Mutex<Option<String>>,
    taken: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Noting {
    fn new(files: PlanFiles) -> Self {
        Self {
            files,
            denied: Mutex::default(),
            taken: Mutex::default(),
        }
    }

    fn denied(&self) -> Option<String> {
        let denied = self.denied.lock();
        denied.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Remembers what came of reading a file.
    fn noted(&self, path: &str, read: io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        let bytes = read.inspect_err(|error| {
            if error.kind() == io::ErrorKind::PermissionDenied {
                let denied = self.denied.lock();
                let mut denied = denied.unwrap_or_else(PoisonError::into_inner);
                denied.get_or_insert_with(|| path.to_owned());
            }
        })?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() <= MOST_FILES {
            taken.insert(path.to_owned(), bytes.clone());
        }
        Ok(bytes)
    }

    fn taken(&self) -> BTreeMap<String, Vec<u8>> {
        std::mem::take(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Files for Noting {
    fn read(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.noted(path, self.files.read(path, most_bytes))
    }

    fn exists(&self, path: &str) -> bool {
        self.files.exists(path)
    }

    fn read_here(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.noted(path, self.files.read_here(path, most_bytes))
    }

    fn exists_here(&self, path: &str) -> bool {
        self.files.exists_here(path)
    }
}

/// Nothing is executed while a plan is collected.
struct Nobody;

impl Sink for Nobody {
    fn sample(&self, _row: &SampleRow<'_>, _listeners: &[Id]) {}

    fn trouble(&self, _what: &str) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use sokudo_i18n::english;

    use super::*;

    fn bundle(files: &[(&str, &[u8])]) -> Bundle {
        let files = files.iter();
        Bundle {
            plan: b"<a/>".to_vec(),
            files: files
                .map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec()))
                .collect(),
        }
    }

    #[test]
    fn files_arrive_as_they_were() {
        let sent = bundle(&[("users.csv", b"\x83\x65\n"), ("/abs/\u{65e5}", b"")]);
        assert_eq!(Bundle::parse(&sent.to_text()), Ok(sent));
    }

    #[test]
    fn files_from_elsewhere_must_be_named() {
        let place = tempfile::tempdir().expect("a directory");
        let plan = |data: &str| {
            format!(
                r#"<jmeterTestPlan><hashTree><TestPlan testname="P"/><hashTree><ThreadGroup testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree><CSVDataSet testname="data"><stringProp name="filename">{data}</stringProp></CSVDataSet><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#
            )
        };
        std::fs::create_dir(place.path().join("plans")).expect("a directory");
        std::fs::write(place.path().join("secret.csv"), "a\nb\n").expect("a file");
        let outside = place.path().join("secret.csv").display().to_string();
        for path in ["../secret.csv", outside.as_str()] {
            let options = |with: &[&str]| JmxOptions {
                plan: place.path().join("plans/plan.jmx"),
                with: with.iter().map(|path| (*path).to_owned()).collect(),
                ..JmxOptions::default()
            };
            std::fs::write(&options(&[]).plan, plan(path)).expect("a plan");
            let refused = Bundle::collect(&options(&[]), 0).expect_err(path);
            assert!(english(&refused.says).contains(path), "{refused:?}");
            let hint = refused.hint.expect("a hint");
            assert!(english(&hint).contains("--with"));
            for with in [path, ".."] {
                let bundle = Bundle::collect(&options(&[with]), 0).expect("it is named");
                assert_eq!(bundle.files[path], b"a\nb\n", "{with}");
            }
        }
    }

    #[test]
    fn files_that_scripts_read_travel_with_it() {
        let place = tempfile::tempdir().expect("a directory");
        let named = place.path().join("in.txt").display().to_string();
        std::fs::write(&named, "text").expect("a file");
        let plan = format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="P"/><hashTree><ThreadGroup testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree><JSR223Sampler testname="s"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="script">new File('{named}').text + new File('{named}.none').exists()</stringProp></JSR223Sampler><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#
        );
        let options = JmxOptions {
            plan: place.path().join("plan.jmx"),
            ..JmxOptions::default()
        };
        std::fs::write(&options.plan, plan).expect("a plan");
        let bundle = Bundle::collect(&options, 0).expect("all is there");
        assert_eq!(bundle.files.keys().collect::<Vec<_>>(), [&named]);
        assert_eq!(bundle.files[&named], b"text");
    }

    #[test]
    fn included_plans_travel_with_it() {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(place.path().join("plans")).expect("a directory");
        let part = r#"<jmeterTestPlan><hashTree><TestFragmentController testname="F"/><hashTree/></hashTree></jmeterTestPlan>"#;
        std::fs::write(place.path().join("part.jmx"), part).expect("a part");
        let whole = place.path().join("part.jmx").display().to_string();
        for path in ["../part.jmx", whole.as_str()] {
            let options = |with: &[&str]| JmxOptions {
                plan: place.path().join("plans/plan.jmx"),
                with: with.iter().map(|path| (*path).to_owned()).collect(),
                ..JmxOptions::default()
            };
            let plan = format!(
                r#"<jmeterTestPlan><hashTree><TestPlan testname="P"/><hashTree><ThreadGroup testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree><IncludeController testname="i"><stringProp name="IncludeController.includepath">{path}</stringProp></IncludeController><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#
            );
            std::fs::write(&options(&[]).plan, plan).expect("a plan");
            let refused = Bundle::collect(&options(&[]), 0).expect_err(path);
            assert!(english(&refused.says).contains(path), "{refused:?}");
            let bundle = Bundle::collect(&options(&[".."]), 0).expect("it is named");
            assert_eq!(bundle.files[path], part.as_bytes());
            // The host that carries it out has nothing but the bundle.
            std::fs::rename(place.path().join("part.jmx"), place.path().join("away"))
                .expect("moved");
            bundle.prepare(&options(&[]), 0).expect("all is there");
            std::fs::rename(place.path().join("away"), place.path().join("part.jmx"))
                .expect("moved");
        }
    }

    #[test]
    fn what_is_too_large_is_refused_on_both_sides() {
        let large = bundle(&[("a", &vec![0; MOST_BYTES])]);
        assert!(large.check_size().is_err());
        assert!(Bundle::parse(&large.to_text()).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[{}\"a-z:,=]{0,60}") {
            any_bytes(text.as_bytes());
        }
    }
}
