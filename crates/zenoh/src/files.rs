//! Reads and writes the files of a group: readable by their owner only, and replaced atomically.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sokudo_net::files::owner_only;
use sokudo_wire::join::is_agent_name;

use crate::error::GroupError;

/// Reads what is kept of the group or member `name`.
pub(crate) fn read<T: DeserializeOwned>(
    config: &Path,
    path: &Path,
    name: &str,
) -> Result<T, GroupError> {
    if !is_agent_name(name) {
        return Err(GroupError::Name(name.into()));
    }
    let bytes = fs::read(path).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => GroupError::Unknown {
            name: name.into(),
            place: config.into(),
        },
        _ => file(path, why),
    })?;
    serde_json::from_slice(&bytes).map_err(|why| GroupError::Damaged {
        path: path.into(),
        why: why.to_string(),
    })
}

/// Writes a file that only its owner may read, atomically.
pub(crate) fn write_secret(
    path: &Path,
    content: &impl Serialize,
    new: bool,
) -> Result<(), GroupError> {
    let failed = |why| file(path, why);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    if new && path.exists() {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    let text = serde_json::to_vec_pretty(content).map_err(|why| failed(why.into()))?;
    let beside = path.with_extension("new");
    let mut options = owner_only();
    options.write(true).truncate(true);
    let mut out = options.open(&beside).map_err(failed)?;
    out.write_all(&text).map_err(failed)?;
    out.sync_all().map_err(failed)?;
    fs::rename(&beside, path).map_err(failed)
}

pub(crate) fn file(path: &Path, why: io::Error) -> GroupError {
    GroupError::File {
        path: path.into(),
        why,
    }
}
