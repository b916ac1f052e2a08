//! Creates files that only their owner may read.

use std::fs::OpenOptions;

/// Options for a file that is created if it is missing, and that only its owner may read.
///
/// On Unix its mode is 0600. Windows gives a file the access list of its folder, and below a user's
/// own folder that is the user, the system and administrators.
pub fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn others_may_not_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        owner_only().write(true).open(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
