//! The files that a plan names.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value as Json;

use crate::expression::{Segment, Template, parse};
use crate::plan::{ConfigKind, ListenerKind, Plan, SamplerKind};

/// Functions whose first argument is a file that they read.
const READING: &[&str] = &["__CSVRead", "__FileToString", "__StringFromFile", "__XPath"];
/// Functions whose first argument is a file that they write.
const WRITING: &[&str] = &["__StringToFile"];

/// A file that a plan names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FileUse {
    /// Its path, as the plan writes it; expressions in it are known only while the plan runs.
    pub path: String,
    /// True if the plan writes it.
    pub is_written: bool,
    /// True if its path has expressions.
    pub is_computed: bool,
    /// The element or function that opens it.
    pub by: String,
}

impl FileUse {
    fn new(path: &Template, by: &str, is_written: bool) -> Self {
        Self {
            path: path.to_string(),
            is_written,
            is_computed: path.constant().is_none(),
            by: by.into(),
        }
    }
}

/// The files that the elements and functions of a plan open while it runs, in order of their paths.
pub fn files(plan: &Plan) -> Vec<FileUse> {
    let mut found = BTreeSet::new();
    for config in &plan.configs {
        if let ConfigKind::CsvData(data) = &config.kind {
            found.insert(FileUse::new(&data.file, "CSVDataSet", false));
        }
    }
    for config in &plan.configs {
        let ConfigKind::Database(database) = &config.kind else {
            continue;
        };
        let Some(address) = &database.address else {
            continue;
        };
        for (file, is_written) in [(&address.file, true), (&address.authorities, false)] {
            let file = file.as_ref().map(|file| Template::text(file.as_str()));
            found.extend(file.map(|file| FileUse::new(&file, "JDBCDataSource", is_written)));
        }
    }
    for sampler in &plan.samplers {
        if let SamplerKind::Http(request) = &sampler.kind {
            let sent = request.files.iter();
            found.extend(sent.map(|file| FileUse::new(&file.path, "HTTPSamplerProxy", false)));
        }
    }
    for listener in &plan.listeners {
        let (file, by) = match &listener.kind {
            ListenerKind::Results { file, .. } => (file, "ResultCollector"),
            ListenerKind::Responses(of) => (&of.prefix, "ResultSaver"),
            ListenerKind::Backend(_) | ListenerKind::Script(_) | ListenerKind::Summary => continue,
        };
        found.insert(FileUse::new(&Template::text(file.as_str()), by, true));
    }
    // Every text of a plan may call functions; as plain data it has all of them.
    called(&serde_json::json!(plan), &mut found);
    found.retain(|file| !file.path.is_empty());
    found.into_iter().collect()
}

fn called(part: &Json, found: &mut BTreeSet<FileUse>) {
    match part {
        Json::String(text) if text.contains("${__") => {
            if let Ok(parsed) = parse(text, &mut 0) {
                in_template(&parsed.template, found);
            }
        }
        Json::Array(parts) => parts.iter().for_each(|part| called(part, found)),
        Json::Object(parts) => parts.values().for_each(|part| called(part, found)),
        _ => {}
    }
}

fn in_template(template: &Template, found: &mut BTreeSet<FileUse>) {
    for segment in template.segments() {
        let Segment::Call(call) = segment else {
            continue;
        };
        let name = call.function.name;
        let is_written = WRITING.contains(&name);
        if let Some(path) = call.arguments.first()
            && (is_written || READING.contains(&name))
        {
            found.insert(FileUse::new(path, name, is_written));
        }
        let arguments = call.arguments.iter();
        arguments.for_each(|argument| in_template(argument, found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;
    use crate::read;
    use crate::settings::Settings;

    #[test]
    fn every_file_that_elements_and_functions_open_is_listed() {
        let text = r#"<jmeterTestPlan><hashTree><TestPlan testname="P"/><hashTree><ThreadGroup testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree>
<CSVDataSet testname="d"><stringProp name="filename">users.csv</stringProp><stringProp name="variableNames">u</stringProp></CSVDataSet><hashTree/>
<ResultCollector testname="r" guiclass="SimpleDataWriter"><stringProp name="filename">/var/out.jtl</stringProp></ResultCollector><hashTree/>
<HTTPSamplerProxy testname="s"><stringProp name="HTTPSampler.domain">h</stringProp><stringProp name="HTTPSampler.path">/a?x=${__urlencode(${__FileToString(/etc/passwd)})}</stringProp>
<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files"><elementProp name="" elementType="HTTPFileArg"><stringProp name="File.path">${u}.png</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#;
        let files_of_plan = MemoryFiles([("users.csv".to_owned(), b"a\n".to_vec())].into());
        let reading = read(
            "p.jmx",
            text.as_bytes(),
            &Settings::default(),
            &files_of_plan,
        );
        let plan = reading.plan.expect("a plan");
        let found: Vec<_> = files(&plan)
            .into_iter()
            .map(|file| (file.path, file.by, file.is_written, file.is_computed))
            .collect();
        let expected = |path: &str, by: &str, written, computed| {
            (path.to_owned(), by.to_owned(), written, computed)
        };
        assert_eq!(
            found,
            [
                expected("${u}.png", "HTTPSamplerProxy", false, true),
                expected("/etc/passwd", "__FileToString", false, false),
                expected("/var/out.jtl", "ResultCollector", true, false),
                expected("users.csv", "CSVDataSet", false, false),
            ]
        );
    }
}
