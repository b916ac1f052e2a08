//! Verifies that the files of a record are unchanged.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::layout::{RUN_JSON, SPOOL, TEMPORARY};
use crate::{StoreError, disk, read_manifest};

/// Greatest depth of directories in a record.
const DEPTH_MAX: usize = 4;

/// The result of [`verify`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Files whose content is the recorded one.
    pub intact: Vec<String>,
    /// Files whose content has changed since.
    pub changed: Vec<String>,
    /// Files that the manifest lists but that are missing.
    pub missing: Vec<String>,
    /// Files that exist but are not listed in the manifest.
    pub unlisted: Vec<String>,
}

impl Verification {
    /// True when nothing is changed or missing.
    pub fn is_intact(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty()
    }
}

/// Compares every file of a closed record with the hash in its manifest.
pub fn verify(record: &Path) -> Result<Verification, StoreError> {
    let manifest = read_manifest(record)?;
    let mut present = files_of(record)?;
    let mut found = Verification::default();
    for (name, wanted) in &manifest.files {
        let Some(file) = present.remove(name) else {
            found.missing.push(name.clone());
            continue;
        };
        if sha256(&file)? == *wanted {
            found.intact.push(name.clone());
        } else {
            found.changed.push(name.clone());
        }
    }
    found.unlisted = present.into_keys().collect();
    Ok(found)
}

/// SHA-256 of every file of a record that a manifest lists: all but `run.json`, the spool and
/// unfinished files.
pub(crate) fn hash_all(record: &Path) -> Result<BTreeMap<String, String>, StoreError> {
    files_of(record)?
        .into_iter()
        .map(|(name, file)| Ok((name, sha256(&file)?)))
        .collect()
}

/// SHA-256 of a file's content, hexadecimal.
pub(crate) fn sha256(file: &Path) -> Result<String, StoreError> {
    let failed = |e: io::Error| StoreError::io("read", file, e);
    let mut reader = disk::open_plain(file).map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer).map_err(failed)? {
            0 => break,
            n => hasher.update(&buffer[..n]),
        }
    }
    Ok(hexadecimal(&hasher.finalize()))
}

/// SHA-256 of some bytes, hexadecimal.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The file with this name relative to the record.
///
/// Errors: [`StoreError::Corrupt`] when the name leads out of the record, by itself or by a link on the way.
pub(crate) fn file_of(record: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let inside = Path::new(name)
        .components()
        .all(|c| matches!(c, Component::Normal(_)));
    let above = Path::new(name).ancestors().skip(1);
    for directory in above.filter(|path| !path.as_os_str().is_empty() && inside) {
        disk::check_own_dir(&record.join(directory))?;
    }
    if !inside || name.is_empty() || name == RUN_JSON {
        return Err(StoreError::corrupt(
            record,
            format!("`{name}` cannot name one of its files"),
        ));
    }
    Ok(record.join(name))
}

/// Name relative to the record, with `/` on every system → file.
fn files_of(record: &Path) -> Result<BTreeMap<String, PathBuf>, StoreError> {
    let mut files = BTreeMap::new();
    collect(record, "", DEPTH_MAX, &mut files)?;
    Ok(files)
}

fn collect(
    dir: &Path,
    prefix: &str,
    depth_left: usize,
    files: &mut BTreeMap<String, PathBuf>,
) -> Result<(), StoreError> {
    for path in disk::list_dir(dir)? {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        let own = prefix.is_empty() && (name == RUN_JSON || name == SPOOL);
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        if own || name.ends_with(TEMPORARY) {
            continue;
        }
        let name = format!("{prefix}{name}");
        if metadata.is_file() {
            files.insert(name, path);
        } else if metadata.is_dir() && depth_left > 0 {
            collect(&path, &format!("{name}/"), depth_left - 1, files)?;
        }
    }
    Ok(())
}
