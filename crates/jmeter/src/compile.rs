//! Compilation of a plan's texts to templates, numbers and choices.
//!
//! [`Compiler`] is the state of one reading of a plan: properties, the variables at the start, and
//! all problems. [`ElementReader`] reads the properties of one element by name, with the defaults
//! behind it; it reports wrong types with file and line, and records which names were read, so that
//! unread ones can be reported and the reference page can list the others.

use std::collections::BTreeMap;

use serde::Serialize;
use sokudo_model::Text;

use crate::expression::{
    Dialect, ExpressionError, Needs, Segment, StartWorld, Template, function_flaw, jexl_flaw, parse,
};
use crate::files::Files;
use crate::plan::Id;
use crate::problem::{FilePosition, Problems};
use crate::properties::Origin;
use crate::registry::refusal_text;
use crate::script::ScriptOwner;
use crate::settings::{Settings, Unsupported};

mod reader;

pub(crate) use reader::ElementReader;

/// A property that the plan reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyUse {
    /// Name of the property.
    pub name: String,
    /// Value that the plan gets.
    pub value: String,
    /// Origin of the value; `None`: the plan's own default, see `has_default`.
    pub origin: Option<Origin>,
    /// True if the plan states a default.
    pub has_default: bool,
    /// Place of the first use.
    pub place: FilePosition,
}

/// Properties, variables and functions that the expressions of a plan use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses {
    /// Properties by name.
    pub properties: BTreeMap<String, PropertyUse>,
    /// Variables by name, with the place of the first use.
    pub variables: BTreeMap<String, FilePosition>,
    /// Functions by name, with the number of calls.
    pub functions: BTreeMap<&'static str, usize>,
    /// Variables that an element of the plan sets.
    pub set: BTreeMap<String, ()>,
    /// True if a script in a function reads the previous result.
    pub previous: bool,
    /// True if the plan has a transaction.
    pub transactions: bool,
    /// True if a script in a function reads sub-results.
    pub inner: bool,
}

/// State of one reading of a plan.
pub(crate) struct Compiler<'a> {
    pub settings: &'a Settings,
    pub files: &'a dyn Files,
    pub world: StartWorld<'a>,
    pub problems: Problems,
    pub uses: Uses,
    /// Names and types that were read, for the reference page.
    pub names_read: Vec<(String, Type)>,
    /// Names that are known and have no effect.
    pub names_ignored: Vec<String>,
    /// True if properties do not change during the test, so that their values can be inlined.
    pub properties_stay: bool,
    next_site: u32,
}

/// Type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// Text.
    Text,
    /// `true` or `false`.
    Flag,
    /// Whole number.
    Integer,
    /// Decimal number.
    Decimal,
    /// List of values.
    List,
    /// Element inside the element.
    Element,
}

impl Type {
    /// Name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Flag => "true/false",
            Self::Integer => "integer",
            Self::Decimal => "number",
            Self::List => "list",
            Self::Element => "element",
        }
    }
}

impl<'a> Compiler<'a> {
    pub fn new(settings: &'a Settings, files: &'a dyn Files, plan: &str) -> Self {
        let world = StartWorld::new(
            settings.properties.clone(),
            files,
            settings.seed,
            settings.now_ms,
            settings.time_zone.clone(),
            plan,
        );
        Self {
            settings,
            files,
            world,
            problems: Problems::default(),
            uses: Uses::default(),
            names_read: Vec::new(),
            names_ignored: Vec::new(),
            properties_stay: true,
            next_site: 0,
        }
    }

    /// The template of a text. An invalid expression is reported and rendered as written.
    pub fn template(&mut self, text: &str, place: &FilePosition) -> Template {
        let parsed = match parse(text, &mut self.next_site) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.refuse_expression(&error, text, place);
                return Template::text(text);
            }
        };
        if parsed.unclosed {
            let says = Text::new("jmx-unclosed-expression").word("text", excerpt(text));
            self.problems.warning(place.clone(), says);
        }
        let mut template = parsed.template;
        self.note(&template, place);
        if self.properties_stay {
            self.fill_in(&mut template);
        }
        template
    }

    /// The value of a text at the start of the test.
    pub fn at_start(&mut self, text: &str, place: &FilePosition) -> String {
        let template = self.template(text, place);
        self.value_at_start(&template, place)
    }

    /// The value of a template at the start of the test. A fault is reported.
    pub fn value_at_start(&mut self, template: &Template, place: &FilePosition) -> String {
        let mut out = String::new();
        if let Err(fault) = template.render(&mut self.world, &mut out) {
            let says = Text::new("jmx-fault")
                .word("function", fault.function)
                .word("why", fault.why);
            self.problems.error(place.clone(), says);
        }
        out
    }

    /// Records that an element sets a variable of this name.
    pub fn sets(&mut self, name: &Template) {
        if let Some(name) = name.constant() {
            self.uses.set.insert(name.trim().to_owned(), ());
        }
    }

    /// Reports something that cannot be executed, with the severity that the operator chose.
    pub fn unsupported(&mut self, place: &FilePosition, says: Text, hint: Option<Text>) {
        match (self.settings.unsupported, hint) {
            (Unsupported::Fail, Some(hint)) => {
                self.problems.error_with(place.clone(), says, hint);
            }
            (Unsupported::Fail, None) => self.problems.error(place.clone(), says),
            (Unsupported::Warn, _) => self.problems.warning(place.clone(), says),
            (Unsupported::Skip, _) => {}
        }
    }

    fn refuse_expression(&mut self, error: &ExpressionError, text: &str, place: &FilePosition) {
        let text = excerpt(text);
        match error {
            ExpressionError::UnknownFunction(name) => {
                let says = Text::new("jmx-unknown-function").word("function", name.as_str());
                self.unsupported(place, says, None);
            }
            ExpressionError::ArgumentCount {
                function,
                takes,
                got,
            } => {
                let says = Text::new("jmx-argument-count")
                    .word("function", *function)
                    .word("takes", *takes)
                    .word("got", got.to_string());
                self.problems.error(place.clone(), says);
            }
            ExpressionError::NotClosed(function) => {
                let says = Text::new("jmx-not-closed-call")
                    .word("function", *function)
                    .word("text", text);
                self.problems.error(place.clone(), says);
            }
            ExpressionError::TooComplex => {
                let says = Text::new("jmx-too-complex").word("text", text);
                self.problems.error(place.clone(), says);
            }
        }
    }

    /// Records what a template uses.
    fn note(&mut self, template: &Template, place: &FilePosition) {
        for segment in template.segments() {
            match segment {
                Segment::Text(_) => {}
                Segment::Variable(name) => {
                    let uses = &mut self.uses.variables;
                    uses.entry(name.clone()).or_insert_with(|| place.clone());
                }
                Segment::Call(call) => {
                    let function = call.function;
                    *self.uses.functions.entry(function.name).or_default() += 1;
                    if let (Needs::Translation(language), [script, ..]) =
                        (function.needs, call.arguments.as_slice())
                    {
                        let text = script.sample();
                        self.uses.previous |= script_reads_previous(&text);
                        self.uses.inner |= script_reads_inner(&text);
                        for refusal in ScriptOwner::Function.refusals(language, &text) {
                            let says = Text::new("jmx-script-function")
                                .word("function", function.name)
                                .text("why", refusal_text(&refusal));
                            let hint = Text::new("jmx-script-subset-hint");
                            self.unsupported(place, says, Some(hint));
                        }
                    }
                    self.check_arguments(function.name, &call.arguments, place);
                    for argument in &call.arguments {
                        self.note(argument, place);
                    }
                    let sets = sets_variable(function.name, call.arguments.len());
                    if let Some(name) = sets.and_then(|at| call.arguments.get(at)) {
                        self.sets(name);
                        if function.name == "__split" {
                            self.sets(&Template::text(format!("{name}_*")));
                        }
                    }
                    self.note_property(function.name, &call.arguments, place);
                }
            }
        }
    }

    /// Reports constant arguments of a function that are not supported.
    fn check_arguments(
        &mut self,
        function: &'static str,
        arguments: &[Template],
        place: &FilePosition,
    ) {
        let script = Dialect::of(function).zip(arguments.first());
        let refusal = script.and_then(|(dialect, script)| jexl_flaw(script, dialect));
        let refusal = refusal.map(|refusal| refusal.to_string());
        if let Some(why) = refusal.or_else(|| function_flaw(function, arguments)) {
            let says = Text::new("jmx-refused-function")
                .word("function", function)
                .word("why", why);
            self.unsupported(place, says, None);
        }
    }

    fn note_property(&mut self, function: &str, arguments: &[Template], place: &FilePosition) {
        let default_at = match function {
            "__P" => 1,
            "__property" => 2,
            _ => return,
        };
        let Some(name) = arguments.first().and_then(Template::constant) else {
            return;
        };
        let default = arguments.get(default_at).map(ToString::to_string);
        let properties = &self.settings.properties;
        let origin = properties.origin(name).cloned();
        let unset = if function == "__P" { "1" } else { name };
        let value = match properties.get(name) {
            Some(value) => value.to_owned(),
            None => default.clone().unwrap_or_else(|| unset.to_owned()),
        };
        let entry = self.uses.properties.entry(name.to_owned());
        entry.or_insert_with(|| PropertyUse {
            name: name.to_owned(),
            value,
            origin,
            has_default: default.is_some(),
            place: place.clone(),
        });
    }

    /// Inlines the values of properties that cannot change any more.
    fn fill_in(&mut self, template: &mut Template) {
        let is_property = |s: &Segment| match s {
            Segment::Call(call) => {
                let alone = call.function.name == "__P"
                    || call.function.name == "__property"
                        && call.arguments.get(1).is_none_or(Template::is_empty);
                alone && call.arguments.iter().all(|a| a.constant().is_some())
            }
            _ => false,
        };
        let mut filled: Vec<Segment> = Vec::new();
        for segment in template.segments() {
            let text = match segment {
                Segment::Text(text) => text.clone(),
                segment if is_property(segment) => {
                    let mut out = String::new();
                    let alone = Template::from(vec![segment.clone()]);
                    // Reading a property with a constant name cannot fail.
                    let _ = alone.render(&mut self.world, &mut out);
                    out
                }
                Segment::Variable(_) => {
                    filled.push(segment.clone());
                    continue;
                }
                Segment::Call(call) => {
                    let mut call = call.clone();
                    for argument in &mut call.arguments {
                        self.fill_in(argument);
                    }
                    filled.push(Segment::Call(call));
                    continue;
                }
            };
            match filled.last_mut() {
                Some(Segment::Text(before)) => before.push_str(&text),
                _ if text.is_empty() => {}
                _ => filled.push(Segment::Text(text)),
            }
        }
        *template = Template::from(filled);
    }
}

/// Index of the argument of a function that names a variable it sets, if it has so many of them.
fn sets_variable(function: &str, arguments: usize) -> Option<usize> {
    match function {
        // The last one; a number in its place is nobody's name.
        "__intSum" | "__longSum" | "__doubleSum" | "__chooseRandom" => arguments.checked_sub(1),
        "__Random" | "__RandomString" | "__FileToString" | "__changeCase" | "__caseFormat" => {
            Some(2)
        }
        "__dateTimeConvert" | "__strReplace" | "__substring" => Some(3),
        "__regexFunction" => Some(5),
        "__escapeOroRegexpChars" | "__BeanShell" => Some(1),
        "__MD5" | "__base64Decode" | "__base64Encode" | "__env" | "__lowercase" | "__strLen"
        | "__uppercase" => Some(1),
        "__property"
        | "__StringFromFile"
        | "__counter"
        | "__time"
        | "__split"
        | "__jexl2"
        | "__jexl3"
        | "__groovy"
        | "__javaScript"
        | "__RandomFromMultipleVars" => Some(1),
        "__machineName" | "__machineIP" | "__samplerName" => Some(0),
        "__timeShift" | "__digest" | "__RandomDate" | "__if" => Some(4),
        _ => None,
    }
}

/// The beginning of a text, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The position of the next element in a list.
pub(crate) fn next_id<T>(list: &[T]) -> Id {
    list.len() as Id
}

/// True if a script may read sub-results, by a method or by a property.
pub(crate) fn script_reads_inner(text: &str) -> bool {
    text.contains("ubResults")
}

/// True if a script may read the result before it.
pub(crate) fn script_reads_previous(text: &str) -> bool {
    text.contains("prev") || text.contains("getPreviousResult")
}
