//! Scripts have the values that they have in the real Groovy and BeanShell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use sokudo_jmeter::files::{FileAbout, Files, WriteMode};
use sokudo_jmeter::script::{LentFiles, ScriptLanguage, described, unmade};
use sokudo_testkit::{scripts, skip};

/// The files of scripts, in a folder that stands for the current one.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &str, _most_bytes: u64) -> io::Result<Vec<u8>> {
        fs::read(self.0.join(path))
    }

    fn exists(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    fn about_here(&self, path: &str) -> io::Result<Option<FileAbout>> {
        let about = fs::metadata(self.0.join(path)).ok();
        Ok(about.map(|about| FileAbout {
            is_folder: about.is_dir(),
            bytes: about.len(),
            changed_ms: 0,
        }))
    }

    fn write_here(&self, path: &str, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        let path = self.0.join(path);
        let before = match mode {
            WriteMode::Append => fs::read(&path).unwrap_or_default(),
            WriteMode::Replace => Vec::new(),
        };
        fs::write(path, [&before, bytes].concat())
    }

    fn list_here(&self, path: &str) -> io::Result<Option<Vec<String>>> {
        let Ok(entries) = fs::read_dir(self.0.join(path)) else {
            return Ok(None);
        };
        let names =
            entries.map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned()));
        names.collect::<io::Result<_>>().map(Some)
    }

    fn make_folder_here(&self, path: &str) -> io::Result<bool> {
        Ok(fs::create_dir(self.0.join(path)).is_ok())
    }

    fn remove_here(&self, path: &str) -> io::Result<bool> {
        let path = self.0.join(path);
        Ok(fs::remove_file(&path)
            .or_else(|_| fs::remove_dir(&path))
            .is_ok())
    }

    fn environment(&self) -> io::Result<BTreeMap<String, String>> {
        Ok(BTreeMap::new())
    }

    fn folders(&self) -> io::Result<[String; 2]> {
        Ok([self.0.display().to_string(), self.0.display().to_string()])
    }
}

/// Scripts of a file, separated by lines of `---`.
fn scripts_in(text: &str) -> Vec<&str> {
    text.split("---\n").map(str::trim_end).collect()
}

/// Compares all scripts of a file with the real language. Those that are not supported end with a
/// fault that says so; there are at most `most_unsupported`.
fn compare(language: ScriptLanguage, name: &str, text: &str, most_unsupported: usize) {
    let all = scripts_in(text);
    let real = match scripts::evaluate(name, &all) {
        Ok(real) => real,
        Err(why) => return skip(&why),
    };
    assert_eq!(real.len(), all.len());
    let place = tempfile::tempdir().expect("a directory");
    let files = LentFiles(Some(Arc::new(Folder(place.path().to_owned()))));
    let (mut different, mut unsupported) = (Vec::new(), Vec::new());
    for (script, expected) in all.iter().zip(&real) {
        match described(language, script, &files) {
            Ok(said) if alike(&said, expected) => {}
            Ok(said) => different.push(format!("{script}\n  is {expected}\n not {said}")),
            Err(why) => unsupported.push(format!("{script}\n  {expected}\n  {why}")),
        }
    }
    println!("{name}: not supported:\n{}", unsupported.join("\n"));
    assert!(different.is_empty(), "{name}:\n{}", different.join("\n"));
    assert!(
        unsupported.len() <= most_unsupported,
        "{} are not supported",
        unsupported.len()
    );
}

/// True if both are the same; of an exception whose message is not kept the class alone is compared.
fn alike(said: &str, expected: &str) -> bool {
    let class = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let is_untold = said.starts_with('!') && !said.contains(':');
    said == expected || is_untold && class(said) == class(expected)
}

/// The check of a script and the run read the same list of members: whatever the one accepts, the other
/// carries out.
#[test]
fn every_member_that_the_check_accepts_is_carried_out() {
    assert_eq!(unmade().as_deref(), Ok(""));
}

#[test]
fn groovy_scripts_have_the_values_of_the_real_language() {
    let text = include_str!("../testdata/scripts/groovy.txt");
    compare(ScriptLanguage::Groovy, "groovy", text, 15);
}

#[test]
fn groovy_scripts_use_files_and_streams_as_the_real_language_does() {
    let text = include_str!("../testdata/scripts/groovy-files.txt");
    compare(ScriptLanguage::Groovy, "groovy", text, 0);
}

#[test]
fn groovy_scripts_read_xml_as_the_real_language_does() {
    let text = include_str!("../testdata/scripts/groovy-xml.txt");
    compare(ScriptLanguage::Groovy, "groovy", text, 0);
}

#[test]
fn beanshell_scripts_use_files_as_the_real_language_does() {
    let text = include_str!("../testdata/scripts/beanshell-files.txt");
    compare(ScriptLanguage::BeanShell, "beanshell", text, 0);
}

#[test]
fn beanshell_scripts_have_the_values_of_the_real_language() {
    let text = include_str!("../testdata/scripts/beanshell.txt");
    compare(ScriptLanguage::BeanShell, "beanshell", text, 8);
}

#[test]
fn what_users_write_in_groovy_has_the_values_of_the_real_language() {
    let text = include_str!("../testdata/scripts/groovy-users.txt");
    compare(ScriptLanguage::Groovy, "groovy", text, 0);
}

#[test]
fn what_users_write_in_beanshell_has_the_values_of_the_real_language() {
    let text = include_str!("../testdata/scripts/beanshell-users.txt");
    compare(ScriptLanguage::BeanShell, "beanshell", text, 0);
}
