//! The files that a plan names.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value as Json;

use crate::expression::{Segment, Template, parse};
use crate::plan::{
    AssertionKind, ConfigKind, ListenerKind, Plan, PostKind, PreKind, SamplerKind, Script,
    TimerKind,
};
use crate::script::{ScriptLanguage, ScriptOwner};

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
    /// True if a relative path starts at the current folder, not at that of the plan.
    pub is_here: bool,
    /// The element or function that opens it.
    pub by: String,
}

impl FileUse {
    fn new(path: &Template, by: &str, is_written: bool) -> Self {
        Self {
            path: path.to_string(),
            is_written,
            is_computed: path.constant().is_none(),
            is_here: false,
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
    found.extend(of_scripts(plan));
    // Every text of a plan may call functions; as plain data it has all of them.
    called(&serde_json::json!(plan), &mut found);
    found.retain(|file| !file.path.is_empty());
    found.into_iter().collect()
}

/// The files that scripts of a plan name.
pub fn of_scripts(plan: &Plan) -> BTreeSet<FileUse> {
    let mut scripts: Vec<(ScriptOwner, &Script)> = Vec::new();
    for sampler in &plan.samplers {
        if let SamplerKind::Script(script) = &sampler.kind {
            scripts.push((ScriptOwner::Sampler, script));
        }
    }
    for element in &plan.pre_processors {
        if let PreKind::Script(script) = &element.kind {
            scripts.push((ScriptOwner::PreProcessor, script));
        }
    }
    for element in &plan.post_processors {
        if let PostKind::Script(script) = &element.kind {
            scripts.push((ScriptOwner::PostProcessor, script));
        }
    }
    for element in &plan.assertions {
        if let AssertionKind::Script(script) = &element.kind {
            scripts.push((ScriptOwner::Assertion, script));
        }
    }
    for element in &plan.timers {
        if let TimerKind::Script(script) = &element.kind {
            scripts.push((ScriptOwner::Timer, script));
        }
    }
    for element in &plan.listeners {
        if let ListenerKind::Script(script) = &element.kind {
            scripts.push((ScriptOwner::Listener, script));
        }
    }
    let uses = scripts.into_iter().flat_map(|(owner, script)| {
        let kind = match script.language {
            ScriptLanguage::BeanShell => "BeanShell",
            _ => "JSR223",
        };
        in_script(&script.text, script.language, &format!("{kind}{owner:?}"))
    });
    uses.collect()
}

/// The files that a script names. What the plan puts into its text is known while it runs.
fn in_script(text: &Template, language: ScriptLanguage, by: &str) -> Vec<FileUse> {
    let is_written_so = |path: &str| {
        text.segments()
            .iter()
            .any(|segment| matches!(segment, Segment::Text(text) if text.contains(path)))
    };
    // As it is written it names the plan's variables; where these are parts of its code it is no script so.
    let mut files = ScriptOwner::files(language, &text.to_string());
    if files.is_empty() {
        files = ScriptOwner::files(language, &text.sample());
    }
    let uses = files.into_iter().map(|file| FileUse {
        is_computed: file.is_computed || text.constant().is_none() && !is_written_so(&file.path),
        path: file.path,
        is_written: file.is_written,
        is_here: true,
        by: by.to_owned(),
    });
    uses.collect()
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
        let language = match name {
            "__groovy" => Some(ScriptLanguage::Groovy),
            "__BeanShell" => Some(ScriptLanguage::BeanShell),
            _ => None,
        };
        if let (Some(language), Some(script)) = (language, call.arguments.first()) {
            found.extend(in_script(script, language, name));
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
<JSR223PostProcessor testname="g"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="script">new File('log.txt') &lt;&lt; "${u}"
new File("${u}/in.txt").text</stringProp></JSR223PostProcessor><hashTree/>
<BeanShellListener testname="b"><stringProp name="script">new FileWriter("/tmp/l.csv", true).close();</stringProp></BeanShellListener><hashTree/>
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
                expected("/tmp/l.csv", "BeanShellListener", true, false),
                expected("/var/out.jtl", "ResultCollector", true, false),
                expected("log.txt", "JSR223PostProcessor", true, false),
                expected("users.csv", "CSVDataSet", false, false),
                expected("…/in.txt", "JSR223PostProcessor", false, true),
            ]
        );
    }
}
