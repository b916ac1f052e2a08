//! Extended attributes and access control lists.

use std::fs;
use std::path::Path;

use rustix::fs::{XattrFlags, removexattr, setxattr};

use super::sessions::{age, bytes};
use super::{Copy, look, open, quick};
use crate::dataset::Content;
use crate::message::Attribute;
use crate::root;

/// Access control lists of a file, and of what is made in a directory.
const OWN_LIST: &str = "system.posix_acl_access";
const DEFAULT_LIST: &str = "system.posix_acl_default";

/// A list in the kernel's form (`posix_acl_xattr.h`), by which user 65534 may do all that the owner may.
fn list() -> Vec<u8> {
    const ANYBODY: u32 = u32::MAX;
    let entries = [
        (0x01_u16, 6_u16, ANYBODY),
        (0x02, 6, 65_534),
        (0x04, 4, ANYBODY),
        (0x10, 6, ANYBODY),
        (0x20, 4, ANYBODY),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, may, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(may.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// False when the file system has no such attributes.
fn set(path: &Path, name: &str, value: &[u8]) -> bool {
    match setxattr(path, name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(rustix::io::Errno::NOTSUP) => {
            eprintln!("skipped: this file system has no {name}");
            false
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

/// The attributes of a name below a root.
fn of(root: &Path, name: &str) -> Vec<Attribute> {
    let names = root::attributes(open(root).handle(), name.as_bytes());
    names.unwrap()
}

#[test]
fn attributes_and_lists_arrive_and_follow_their_source() {
    let (source, target) = (quick(), quick());
    let (from, to) = (source.path(), target.path());
    fs::create_dir(from.join("lists")).unwrap();
    let names = ["small", "large", "lists/inside", "plain"];
    for name in names {
        let size = if name == "large" { 1_200_000 } else { 3_000 };
        fs::write(from.join(name), bytes(Content::Text, size, 1)).unwrap();
    }
    let noted = ["small", "large", "lists"].map(|name| from.join(name));
    if !noted.iter().all(|path| set(path, "user.note", b"kept"))
        || !set(&from.join("small"), OWN_LIST, &list())
        || !set(&from.join("lists"), DEFAULT_LIST, &list())
    {
        return;
    }
    age(from);
    let same = || {
        for name in names.into_iter().chain(["lists"]) {
            assert_eq!(of(to, name), of(from, name), "{name}");
        }
        assert_eq!(look(to), look(from));
    };
    let copy = Copy::default();
    copy.run(from, to).fine();
    assert_eq!(of(to, "small").len(), 2);
    assert_eq!(of(to, "lists").len(), 2);
    same();
    assert_eq!(copy.run(from, to).fine().sent.counts.metadata_set, 0);
    // What goes at the source goes at the target, and the content stays.
    removexattr(from.join("large"), "user.note").unwrap();
    let copied = copy.run(from, to).fine();
    let counts = copied.sent.counts;
    assert_eq!((counts.metadata_set, counts.files_written), (1, 0));
    same();
}

#[test]
fn a_list_of_the_target_for_new_files_is_not_left_on_them() {
    let (source, target) = (quick(), quick());
    let (from, to) = (source.path(), target.path());
    if !set(to, DEFAULT_LIST, &list()) {
        return;
    }
    fs::create_dir(from.join("inside")).unwrap();
    let names = ["small", "large", "inside/small"];
    for name in names {
        let size = if name == "large" { 1_200_000 } else { 3_000 };
        fs::write(from.join(name), bytes(Content::Text, size, 1)).unwrap();
    }
    age(from);
    let copy = Copy::default();
    copy.run(from, to).fine();
    for name in names.into_iter().chain(["inside", "."]) {
        assert_eq!(of(to, name), [], "{name}");
    }
    assert_eq!(look(to), look(from));
    assert_eq!(copy.run(from, to).fine().sent.counts.metadata_set, 0);
}
