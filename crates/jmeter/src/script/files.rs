//! The files that translated scripts read and write.
//!
//! ```text
//! runtime/files.js ─ host("file", what, JSON) ─► answer ─► Files of the test ─► {"value": …}
//!                                                  └ {"error": …} as Java says it, {"refused": why}
//! ```
//!
//! Names are those of the current folder, as Java takes them. Which files a plan may use is decided by
//! [`Files`] with every call, so that a name which only the run knows is decided then.

use std::fmt;
use std::io;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::files::{Files, WriteMode};
use crate::run::charset::Charset;

/// Largest file that a script reads as a text.
const MOST_TEXT_BYTES: u64 = 8 << 20;
/// Largest file that a script reads as bytes, of which each takes many in the engine.
const MOST_BYTES: u64 = 1 << 20;

/// The files that a script may use; `None`: the test has not begun.
#[derive(Clone, Default)]
pub struct LentFiles(pub Option<Arc<dyn Files + Send + Sync>>);

impl fmt::Debug for LentFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LentFiles").finish_non_exhaustive()
    }
}

/// Reason why a file was not used.
enum Failing {
    /// What Java says of it in brackets.
    Error(String),
    /// Something that ends the script.
    Refused(String),
}

impl From<io::Error> for Failing {
    fn from(error: io::Error) -> Self {
        let is_of_system = error.raw_os_error().is_some();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Error("No such file or directory".into()),
            io::ErrorKind::IsADirectory => Self::Error("Is a directory".into()),
            io::ErrorKind::NotADirectory => Self::Error("Not a directory".into()),
            io::ErrorKind::PermissionDenied if is_of_system => {
                Self::Error("Permission denied".into())
            }
            io::ErrorKind::FileTooLarge => Self::Refused(format!(
                "it is larger than a script may use: {} MiB as a text, {} MiB as bytes",
                MOST_TEXT_BYTES >> 20,
                MOST_BYTES >> 20
            )),
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// Answers a question about a file, in JSON.
pub(super) fn answer(files: &LentFiles, what: &str, asked: &str) -> String {
    let answered = serde_json::from_str::<Json>(asked)
        .map_err(|_| Failing::Refused("its name or text is not valid Unicode".into()))
        .and_then(|asked| match &files.0 {
            Some(files) => carry_out(&**files, what, &asked),
            None => Err(Failing::Refused(
                "scripts use files while the test runs, not before".into(),
            )),
        });
    match answered {
        Ok(value) => json!({ "value": value }),
        Err(Failing::Error(says)) => json!({ "error": says }),
        Err(Failing::Refused(why)) => json!({ "refused": why }),
    }
    .to_string()
}

/// A variable of the environment, or all of them, in JSON.
pub(super) fn environment(files: &LentFiles, name: &str, which: &str) -> String {
    let refused = "scripts read the environment while the test runs, not before".to_owned();
    let all = match &files.0 {
        Some(files) => files.environment().map_err(|why| why.to_string()),
        None => Err(refused),
    };
    match all {
        Ok(all) if which == "all" => json!({ "value": all }),
        Ok(all) => json!({ "value": all.get(name) }),
        Err(why) => json!({ "refused": why }),
    }
    .to_string()
}

fn carry_out(files: &dyn Files, what: &str, asked: &Json) -> Result<Json, Failing> {
    let text = |name: &str| asked[name].as_str().unwrap_or_default();
    let path = text("path");
    Ok(match what {
        "folders" => json!(files.folders()?),
        "about" => match files.about_here(path)? {
            Some(about) => json!({
                "folder": about.is_folder,
                "bytes": about.bytes,
                "changed": about.changed_ms,
            }),
            None => Json::Null,
        },
        "list" => json!(files.list_here(path)?),
        "make" => files.make_folder_here(path)?.into(),
        "remove" => files.remove_here(path)?.into(),
        "read" => {
            let charset = charset(text("charset"))?;
            let bytes = readable(files, path, MOST_TEXT_BYTES)?;
            let decoded = charset.decode(&bytes);
            if decoded.contains('\u{fffd}') {
                let name = charset.name();
                let why = format!("it has bytes that are not {name}, or replacement characters");
                return Err(Failing::Refused(why));
            }
            decoded.into()
        }
        "bytes" => super::host::hex(&readable(files, path, MOST_BYTES)?).into(),
        "write" => {
            if files.about_here(path)?.is_some_and(|about| about.is_folder) {
                return Err(Failing::Error("Is a directory".into()));
            }
            let mut bytes = Vec::new();
            match asked["bytes"].as_str() {
                Some(hex) => bytes.extend(super::host::unhex(hex).unwrap_or_default()),
                None => charset(text("charset"))?.encode(text("text"), &mut bytes),
            }
            let mode = match asked["appends"].as_bool() {
                Some(true) => WriteMode::Append,
                _ => WriteMode::Replace,
            };
            files
                .write_here(path, &bytes, mode)
                .map_err(|why| match why.kind() {
                    io::ErrorKind::FileTooLarge => {
                        Failing::Refused("it would become larger than a plan may write".into())
                    }
                    _ => why.into(),
                })?;
            Json::Null
        }
        other => return Err(Failing::Refused(format!("`{other}` is not supported"))),
    })
}

fn readable(files: &dyn Files, path: &str, most_bytes: u64) -> Result<Vec<u8>, Failing> {
    if files.about_here(path)?.is_some_and(|about| about.is_folder) {
        return Err(Failing::Error("Is a directory".into()));
    }
    Ok(files.read_here(path, most_bytes)?)
}

/// A charset by its name in Java. UTF-16 has marks that depend on what wrote them.
fn charset(name: &str) -> Result<Charset, Failing> {
    let found = Charset::named(if name.is_empty() { "UTF-8" } else { name });
    let found = found.filter(|charset| !charset.name().starts_with("UTF-16"));
    found.ok_or_else(|| Failing::Refused(format!("the encoding `{name}` is not supported")))
}
