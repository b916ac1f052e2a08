//! The registry of element classes.
//!
//! One line per class, one file per family. An element that is not in [`REGISTRY`] is unknown, and
//! a plan that contains one is refused: leaving out a request silently would make every number of
//! the test wrong.

use crate::compile::{Compiler, ElementReader, Type};
use crate::files::MemoryFiles;
use crate::node::ElementNode;
use crate::plan::{
    AssertionKind, ConfigKind, ControllerKind, ListenerKind, Load, PostKind, PreKind, SamplerKind,
    Stage, TimerKind,
};
use crate::problem::FilePosition;
use crate::settings::Settings;

mod assertions;
mod backend;
mod compared;
mod config;
mod controllers;
mod databases;
mod extractors;
mod groups;
mod http;
mod listeners;
mod others;
mod paths;
mod samplers;
mod scripts;
mod sockets;
mod timers;

pub use compared::{COMPARED, Compared, compared};
pub(crate) use http::{header_manager, request};

/// An element class.
pub struct ElementSpec {
    /// Class names in their short form; the first is the usual one.
    pub classes: &'static [&'static str],
    /// Class of its editor, if the class alone is ambiguous.
    pub gui: Option<&'static str>,
    /// Family of the element.
    pub family: Family,
    /// Priority in which it was implemented: 1, 2 or 3.
    pub tier: u8,
    /// Way in which it is read.
    pub(crate) role: Role,
}

/// Families of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The plan itself and its fragments.
    Plan,
    /// Thread groups.
    Group,
    /// Controllers.
    Controller,
    /// Samplers.
    Sampler,
    /// Timers.
    Timer,
    /// Configuration elements.
    Config,
    /// Preprocessors.
    PreProcessor,
    /// Postprocessors.
    PostProcessor,
    /// Assertions.
    Assertion,
    /// Listeners.
    Listener,
    /// Tools of the editor.
    Tool,
}

/// sokudo's treatment of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Treatment {
    /// It does what it does in JMeter.
    Runs,
    /// It is read and has no effect outside the editor.
    NoEffect,
    /// It would have an effect beside the load, which is left out with a warning.
    LeftOut,
    /// It is a script in an unsupported language.
    NeedsScripts,
    /// It uses an unsupported protocol.
    NotSupported,
}

/// Requests to which the properties of a configuration element are defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultsOf {
    /// HTTP requests.
    Http,
    /// Java requests.
    Java,
    /// Requests over plain TCP.
    Tcp,
    /// Every request: the properties are named by the user.
    Any,
}

/// Way in which an element is read.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    Plan,
    Fragment,
    Include,
    Module,
    Group(Stage, fn(&mut ElementReader<'_, '_>) -> Load),
    Controller(fn(&mut ElementReader<'_, '_>) -> ControllerKind),
    Http,
    Defaults(DefaultsOf),
    Headers,
    Variables,
    Sampler(fn(&mut ElementReader<'_, '_>) -> SamplerKind),
    Timer(fn(&mut ElementReader<'_, '_>) -> TimerKind),
    Config(fn(&mut ElementReader<'_, '_>) -> ConfigKind),
    Pre(fn(&mut ElementReader<'_, '_>) -> PreKind),
    Post(fn(&mut ElementReader<'_, '_>) -> PostKind),
    Assertion(fn(&mut ElementReader<'_, '_>) -> AssertionKind),
    Listener(fn(&mut ElementReader<'_, '_>) -> ListenerKind),
    NoEffect,
    LeftOut,
    Refused(Treatment),
}

const fn element(
    classes: &'static [&'static str],
    family: Family,
    tier: u8,
    role: Role,
) -> ElementSpec {
    ElementSpec {
        classes,
        gui: None,
        family,
        tier,
        role,
    }
}

/// All element classes, family by family.
pub static REGISTRY: &[&[ElementSpec]] = &[
    others::PLAN,
    groups::ELEMENTS,
    controllers::ELEMENTS,
    samplers::ELEMENTS,
    timers::ELEMENTS,
    config::ELEMENTS,
    databases::ELEMENTS,
    sockets::ELEMENTS,
    extractors::ELEMENTS,
    assertions::ELEMENTS,
    listeners::ELEMENTS,
    scripts::ELEMENTS,
    others::REFUSED,
    others::TOOLS,
];

/// The class of an element; `None`: unknown.
pub(crate) fn find(node: &ElementNode) -> Option<&'static ElementSpec> {
    let fits = |spec: &&ElementSpec| {
        let gui_fits = spec.gui.is_none_or(|gui| gui == node.gui);
        gui_fits && spec.classes.contains(&node.class.as_str())
    };
    REGISTRY.iter().flat_map(|family| family.iter()).find(fits)
}

impl ElementSpec {
    /// The usual name.
    pub fn name(&self) -> &'static str {
        self.gui.unwrap_or(self.classes[0])
    }

    /// True if defaults of this kind act on this sampler.
    pub(crate) fn takes(&self, defaults: DefaultsOf) -> bool {
        match defaults {
            DefaultsOf::Http => matches!(self.role, Role::Http),
            DefaultsOf::Java => self.name() == samplers::JAVA,
            DefaultsOf::Tcp => self.name() == sockets::TCP,
            DefaultsOf::Any => true,
        }
    }

    /// sokudo's treatment of it.
    pub fn treatment(&self) -> Treatment {
        match self.role {
            Role::NoEffect => Treatment::NoEffect,
            Role::LeftOut => Treatment::LeftOut,
            Role::Refused(treatment) => treatment,
            _ => Treatment::Runs,
        }
    }

    /// Names and types of the properties that are read, in order.
    pub fn properties(&self) -> Vec<(String, Type)> {
        let place = FilePosition {
            file: "".into(),
            line: 0,
            column: 0,
        };
        let node = ElementNode {
            class: self.classes[0].into(),
            gui: self.gui.unwrap_or_default().into(),
            name: String::new(),
            enabled: true,
            place,
            properties: Vec::new(),
            children: Vec::new(),
        };
        let (settings, files) = (Settings::default(), MemoryFiles::default());
        let mut compiler = Compiler::new(&settings, &files, "");
        let mut reader = ElementReader::new(&node, &mut compiler);
        self.read(&mut reader);
        let mut names = compiler.names_read;
        names.retain(|(name, _)| !name.is_empty());
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|(name, _)| seen.insert(name.clone()));
        names
    }

    /// Reads an element only to list the properties that are read.
    fn read(&self, reader: &mut ElementReader<'_, '_>) {
        match self.role {
            Role::Group(_, read) => {
                groups::common(reader);
                drop(read(reader));
            }
            Role::Controller(read) => drop(read(reader)),
            Role::Http | Role::Defaults(DefaultsOf::Http) => drop(http::request(reader)),
            Role::Defaults(DefaultsOf::Java) => drop(samplers::java(reader)),
            Role::Defaults(DefaultsOf::Tcp) => drop(sockets::tcp(reader)),
            Role::Defaults(DefaultsOf::Any) => {}
            Role::Headers => drop(http::header_manager(reader)),
            Role::Variables => drop(http::pairs(reader, "Arguments.arguments", "Argument")),
            Role::Sampler(read) => drop(read(reader)),
            Role::Timer(read) => drop(read(reader)),
            Role::Config(read) => drop(read(reader)),
            Role::Pre(read) => drop(read(reader)),
            Role::Post(read) => drop(read(reader)),
            Role::Assertion(read) => drop(read(reader)),
            Role::Listener(read) => drop(read(reader)),
            Role::Plan => others::plan_flags(reader).ignored(),
            Role::Include => drop(reader.start_text("IncludeController.includepath")),
            Role::Module => drop(reader.texts("ModuleController.node_path")),
            Role::Fragment | Role::NoEffect | Role::LeftOut | Role::Refused(_) => {}
        }
    }
}

pub(crate) use groups::common as group_common;
pub(crate) use http::pairs;
pub(crate) use others::plan_flags;
pub(crate) use samplers::java;
pub(crate) use sockets::tcp;

/// The Java class that a request names and that is not supported.
pub(crate) fn foreign_class(node: &ElementNode) -> Option<String> {
    samplers::foreign_class(node).or_else(|| sockets::foreign_client(node))
}

pub(crate) use scripts::{foreign as foreign_script, refusal_text};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_class_stands_twice() {
        let mut seen = BTreeSet::new();
        for spec in REGISTRY.iter().flat_map(|family| family.iter()) {
            for class in spec.classes {
                assert!(seen.insert((class, spec.gui)), "{class}");
            }
        }
    }

    #[test]
    fn what_runs_has_properties_that_are_read() {
        // Elements without properties of their own.
        const NONE: &[&str] = &[
            "TestFragmentController",
            "GenericController",
            "OnceOnlyController",
            "RandomOrderController",
            "XMLAssertion",
            "Summariser",
            "SimpleConfigGui",
            "AnchorModifier",
        ];
        for spec in REGISTRY.iter().flat_map(|family| family.iter()) {
            let runs = spec.treatment() == Treatment::Runs;
            let expected = runs && !NONE.contains(&spec.name());
            assert_eq!(!spec.properties().is_empty(), expected, "{}", spec.name());
        }
    }
}
