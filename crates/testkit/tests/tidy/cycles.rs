//! Checks that the modules of a crate use each other in one direction only.
//!
//! What a file uses is read from its paths: `crate::…`, `super::…`, `self::…`, and those that begin with
//! a module that the file declares. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::none;
use crate::source::{Source, sources};

/// Crates whose modules form layers: file by file, and folder by folder.
const LAYERED: &[&str] = &["analyze"];

/// A module: the names from the root of its crate to it.
type Module = Vec<String>;

/// Each module with those that it uses.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn modules_use_each_other_in_one_direction() {
    let sources = sources();
    let mut offences = Vec::new();
    for krate in LAYERED {
        let own = sources.iter().filter(|source| source.krate == *krate);
        let files: Vec<(Module, &str)> = own
            .filter_map(|source| Some((module_of(source)?, source.product_code())))
            .collect();
        let uses = uses(&files);
        for uses in [&uses, &by_folder(&uses)] {
            if let Some(cycle) = cycle(uses) {
                offences.push(format!("crates/{krate}: {}", cycle.join(" → ")));
            }
        }
    }
    none(offences);
}

/// The module that a file of product code is; `None` for any other file.
fn module_of(source: &Source) -> Option<Module> {
    let path = source.path.with_extension("");
    let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
    let mut module: Module = parts.skip(3).collect();
    if !source.is_product() || module.first().is_some_and(|first| first == "tests") {
        return None;
    }
    if matches!(
        module.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        module.pop();
    }
    Some(module)
}

/// Modules that each of these files uses among them.
fn uses(files: &[(Module, &str)]) -> Uses {
    let known: BTreeSet<&[String]> = files.iter().map(|(module, _)| module.as_slice()).collect();
    let of = |module: &Module, code: &str| {
        let named = paths(module, code).into_iter();
        let named = named.filter_map(|path| {
            let begins = (0..=path.len()).rev().map(|end| &path[..end]);
            let mut modules = begins.filter(|begin| known.contains(*begin));
            modules.next().map(<[String]>::to_vec)
        });
        named.filter(|there| there != module).collect()
    };
    let each = files.iter();
    each.map(|(module, code)| (module.clone(), of(module, code)))
        .collect()
}

/// The same between the folders and files directly below the root of the crate.
fn by_folder(uses: &Uses) -> Uses {
    let top = |module: &Module| module.iter().take(1).cloned().collect::<Module>();
    let mut folders = Uses::new();
    for (module, used) in uses {
        let there = used.iter().map(top).filter(|there| *there != top(module));
        folders.entry(top(module)).or_default().extend(there);
    }
    folders
}

/// Every path in the code of a module that begins inside its crate, from the root on.
fn paths(module: &Module, code: &str) -> Vec<Module> {
    let parent: Module = module[..module.len().saturating_sub(1)].to_vec();
    let mut roots = vec![
        ("crate".to_owned(), Module::new()),
        ("super".to_owned(), parent),
        ("self".to_owned(), module.clone()),
    ];
    for (at, _) in code.match_indices("mod ") {
        let name = word(&code[at + 4..]);
        if code[at + 4 + name.len()..].starts_with(';') {
            let child = [module.as_slice(), &[name.to_owned()]].concat();
            roots.push((name.to_owned(), child));
        }
    }
    let mut found = Vec::new();
    for (root, begin) in roots {
        let mark = format!("{root}::");
        for (at, _) in code.match_indices(&mark) {
            let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if !code[..at].ends_with(part) {
                tree(&code[at + mark.len()..], begin.clone(), &mut found);
            }
        }
    }
    found
}

/// Reads a path, or a group of them in braces, that goes on after `begin`; gives what is left of the code.
fn tree<'a>(code: &'a str, mut begin: Module, found: &mut Vec<Module>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = tree(rest, begin.clone(), found).trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let name = word(code);
    let rest = &code[name.len()..];
    match name {
        "" | "self" => {}
        "super" => {
            begin.pop();
        }
        name => begin.push(name.to_owned()),
    }
    match rest.strip_prefix("::") {
        Some(after) => tree(after, begin, found),
        None => {
            found.push(begin);
            // A name of its own, `as x`, is not part of the path.
            let end = rest.find([',', '}', ';']).unwrap_or(rest.len());
            &rest[end..]
        }
    }
}

fn word(code: &str) -> &str {
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_');
    &code[..end.unwrap_or(code.len())]
}

/// The names of modules that use each other in a circle; `None` when there is none.
fn cycle(uses: &Uses) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    uses.keys()
        .find_map(|module| walk(uses, module, &mut Vec::new(), &mut done))
}

fn walk<'a>(
    uses: &'a Uses,
    module: &'a Module,
    open: &mut Vec<&'a Module>,
    done: &mut BTreeSet<&'a Module>,
) -> Option<Vec<String>> {
    if let Some(at) = open.iter().position(|known| *known == module) {
        let circle = open[at..].iter().chain([&module]);
        return Some(circle.map(|module| says(module)).collect());
    }
    if !done.insert(module) {
        return None;
    }
    open.push(module);
    for there in uses.get(module).into_iter().flatten() {
        let found = walk(uses, there, open, done);
        if found.is_some() {
            return found;
        }
    }
    open.pop();
    None
}

fn says(module: &Module) -> String {
    match module.is_empty() {
        true => "the root".to_owned(),
        false => module.join("::"),
    }
}

#[test]
fn a_circle_is_found_through_groups_children_and_parents() {
    let module = |path: &str| -> Module { path.split("::").map(str::to_owned).collect() };
    let of = |files: &[(&str, &'static str)]| {
        let files: Vec<(Module, &str)> = files.iter().map(|(m, c)| (module(m), *c)).collect();
        cycle(&uses(&files)).map(|circle| circle.join(" "))
    };
    let low = ("low", "use std::fmt;");
    assert_eq!(of(&[low, ("high", "use crate::{low::{A, B as C}};")]), None);
    let up = ("low", "fn f() { crate::high::g() }");
    let circle = Some("high low high".to_owned());
    assert_eq!(of(&[up, ("high", "use crate::{low::{A, B}, x};")]), circle);
    let parent = ("a", "mod b; pub use b::B;");
    let child = ("a::b", "use super::A;");
    assert_eq!(of(&[parent, child]), Some("a a::b a".to_owned()));
    let sibling = [
        ("a", "mod b; mod c;"),
        ("a::b", "use super::c::C;"),
        ("a::c", ""),
    ];
    assert_eq!(of(&sibling), None);
}
