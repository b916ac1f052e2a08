//! How do texts of a plan become templates, numbers and choices?
//!
//! [`Compiler`] is what one reading of a plan knows: properties, the variables at the start, and
//! everything that was noticed. [`Reader`] reads the properties of one element by name, with the
//! defaults behind it; it notes wrong types with file and line, and which names were read, so
//! that what nobody reads can be told, and the reference page shows what is read.

use std::collections::BTreeMap;

use serde::Serialize;
use sokudo_model::Text;

use crate::expression::{ExpressionError, Needs, Segment, StartWorld, Template, parse};
use crate::files::Files;
use crate::node::{Node, Property, Value as Raw, find};
use crate::plan::{Id, Value};
use crate::problem::{Place, Problems};
use crate::properties::Origin;
use crate::settings::{Settings, Unsupported};

/// A property that the plan asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyUse {
    /// Its name.
    pub name: String,
    /// What the plan gets.
    pub value: String,
    /// Who set it; `None`: the plan's own default, see `has_default`.
    pub origin: Option<Origin>,
    /// The plan states a default.
    pub has_default: bool,
    /// Where it is asked for first.
    pub place: Place,
}

/// What the expressions of a plan use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses {
    /// Properties by name.
    pub properties: BTreeMap<String, PropertyUse>,
    /// Variables by name, with the place of the first use.
    pub variables: BTreeMap<String, Place>,
    /// Functions by name and how often they are called.
    pub functions: BTreeMap<&'static str, usize>,
    /// Variables that something in the plan sets.
    pub set: BTreeMap<String, ()>,
}

/// What one reading of a plan knows.
pub(crate) struct Compiler<'a> {
    pub settings: &'a Settings,
    pub files: &'a dyn Files,
    pub world: StartWorld<'a>,
    pub problems: Problems,
    pub uses: Uses,
    /// Names and types that were read, for the reference page.
    pub names_read: Vec<(String, Type)>,
    /// Names that are known and mean nothing here.
    pub names_ignored: Vec<String>,
    /// Properties do not change while the test runs, so that they can be filled in.
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
    /// Number.
    Decimal,
    /// Several values.
    List,
    /// An element inside the element.
    Element,
}

impl Type {
    /// Its name.
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

    /// The template of a text. What is wrong with it is noted; it then stands for itself.
    pub fn template(&mut self, text: &str, place: &Place) -> Template {
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

    /// What a text stands for at the start of the test.
    pub fn at_start(&mut self, text: &str, place: &Place) -> String {
        let template = self.template(text, place);
        self.value_at_start(&template, place)
    }

    /// What a template stands for at the start of the test. A fault is noted.
    pub fn value_at_start(&mut self, template: &Template, place: &Place) -> String {
        let mut out = String::new();
        if let Err(fault) = template.render(&mut self.world, &mut out) {
            let says = Text::new("jmx-fault")
                .word("function", fault.function)
                .word("why", fault.why);
            self.problems.error(place.clone(), says);
        }
        out
    }

    /// Notes that something sets a variable of this name.
    pub fn sets(&mut self, name: &Template) {
        if let Some(name) = name.constant() {
            self.uses.set.insert(name.trim().to_owned(), ());
        }
    }

    /// Notes something that cannot be executed, as heavily as the operator wants it.
    pub fn unsupported(&mut self, place: &Place, says: Text, hint: Option<Text>) {
        match (self.settings.unsupported, hint) {
            (Unsupported::Fail, Some(hint)) => {
                self.problems.error_with(place.clone(), says, hint);
            }
            (Unsupported::Fail, None) => self.problems.error(place.clone(), says),
            (Unsupported::Warn, _) => self.problems.warning(place.clone(), says),
            (Unsupported::Skip, _) => {}
        }
    }

    fn refuse_expression(&mut self, error: &ExpressionError, text: &str, place: &Place) {
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

    /// Notes what a template uses.
    fn note(&mut self, template: &Template, place: &Place) {
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
                    if function.needs == Needs::ScriptEngine {
                        let says = Text::new("jmx-script-function").word("function", function.name);
                        self.unsupported(place, says, None);
                    }
                    for argument in &call.arguments {
                        self.note(argument, place);
                    }
                    let variable = sets_variable(function.name);
                    if let Some(name) = variable.and_then(|at| call.arguments.get(at)) {
                        self.sets(name);
                    }
                    self.note_property(function.name, &call.arguments, place);
                }
            }
        }
    }

    fn note_property(&mut self, function: &str, arguments: &[Template], place: &Place) {
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

    /// Puts the values of properties into a template, where they cannot change any more.
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
                    // Properties with constant names have nothing that could fail.
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

/// Which argument of a function names a variable that it sets.
fn sets_variable(function: &str) -> Option<usize> {
    match function {
        "__Random" | "__RandomString" | "__FileToString" | "__changeCase" => Some(2),
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
        "__timeShift" => Some(4),
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

/// Reads the properties of one element, with its defaults behind it.
pub(crate) struct Reader<'r, 'a> {
    /// The element's properties, then those of its defaults from the inside out.
    layers: Vec<&'r [Property]>,
    /// Where the element stands.
    pub place: Place,
    pub compiler: &'r mut Compiler<'a>,
    /// Name of the property that holds the element, of one inside another.
    pub label: &'r str,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub fn new(node: &'r Node, compiler: &'r mut Compiler<'a>) -> Self {
        Self::with_defaults(node, &[], compiler)
    }

    pub fn with_defaults(
        node: &'r Node,
        defaults: &[&'r Node],
        compiler: &'r mut Compiler<'a>,
    ) -> Self {
        let own = std::iter::once(node.properties.as_slice());
        let behind = defaults.iter().map(|node| node.properties.as_slice());
        Self {
            layers: own.chain(behind).collect(),
            place: node.place.clone(),
            compiler,
            label: "",
        }
    }

    /// The text of a scalar and its place: of the first layer that has it. An empty text counts
    /// as not given, because a default behind it wins in JMeter, too.
    fn raw(&mut self, name: &str, wanted: Type) -> Option<(&'r str, &'r Place)> {
        self.compiler.names_read.push((name.to_owned(), wanted));
        for layer in &self.layers {
            let Some(property) = find(layer, name) else {
                continue;
            };
            match &property.value {
                Raw::Scalar { text, is_text } if !(*is_text && text.is_empty()) => {
                    return Some((text, &property.place));
                }
                Raw::Scalar { .. } => {}
                _ => {
                    let says = wrong_type(name, wanted, "…");
                    self.compiler.problems.error(property.place.clone(), says);
                }
            }
        }
        None
    }

    /// Notes names that are known and mean nothing here.
    pub fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.compiler.names_ignored.push(name.to_string());
        }
    }

    /// A text.
    pub fn text(&mut self, name: &str) -> Template {
        match self.raw(name, Type::Text) {
            Some((text, place)) => self.compiler.template(text, place),
            None => Template::default(),
        }
    }

    /// A text; another one when it is empty.
    pub fn text_or(&mut self, name: &str, default: &str) -> Template {
        let text = self.text(name);
        if text.is_empty() {
            return Template::text(default);
        }
        text
    }

    /// A text that must be known at the start.
    pub fn start_text(&mut self, name: &str) -> String {
        match self.raw(name, Type::Text) {
            Some((text, place)) => self.compiler.at_start(text, place),
            None => String::new(),
        }
    }

    /// True or false.
    pub fn flag(&mut self, name: &str, default: bool) -> Value<bool> {
        self.value(name, Type::Flag, default, parse_flag)
    }

    /// A whole number.
    pub fn integer(&mut self, name: &str, default: i64) -> Value<i64> {
        self.value(name, Type::Integer, default, parse_integer)
    }

    /// A whole number that may be missing.
    pub fn integer_if(&mut self, name: &str) -> Option<Value<i64>> {
        let (text, place) = self.raw(name, Type::Integer)?;
        Some(self.parsed(name, text, place, Type::Integer, 0, parse_integer))
    }

    /// A finite number.
    pub fn decimal(&mut self, name: &str, default: f64) -> Value<f64> {
        self.value(name, Type::Decimal, default, parse_decimal)
    }

    /// True or false, known at the start.
    pub fn start_flag(&mut self, name: &str, default: bool) -> bool {
        self.at_start(name, Type::Flag, parse_flag)
            .unwrap_or(default)
    }

    /// A whole number, known at the start.
    pub fn start_integer(&mut self, name: &str) -> Option<i64> {
        self.at_start(name, Type::Integer, parse_integer)
    }

    /// A finite number, known at the start.
    pub fn start_decimal(&mut self, name: &str) -> Option<f64> {
        self.at_start(name, Type::Decimal, parse_decimal)
    }

    /// One of several words; the first when nothing is given. Unknown words are an error.
    pub fn choice<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> T {
        let word = self.start_text(name);
        let word = word.trim();
        let found = words
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(word));
        if let (None, false) = (found, word.is_empty()) {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let says = Text::new("jmx-unknown-word")
                .word("property", name)
                .word("word", word)
                .word("known", known.join(", "));
            let place = self.place_of(name);
            self.compiler.problems.error(place, says);
        }
        found.unwrap_or(&words[0]).1
    }

    /// The texts of a list, of all layers.
    pub fn texts(&mut self, name: &str) -> Vec<Template> {
        let items = self.items(name);
        let compiler = &mut *self.compiler;
        let scalar = |item: &&'r Property| match &item.value {
            Raw::Scalar { text, .. } => Some((text.as_str(), &item.place)),
            _ => None,
        };
        let texts = items.iter().filter_map(scalar);
        texts
            .map(|(text, place)| compiler.template(text, place))
            .collect()
    }

    /// Each list of a list of lists, of all layers.
    pub fn lists<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&mut Reader<'_, 'a>) -> T,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for item in self.items(name) {
            if let Raw::List(properties) = &item.value {
                let mut inner = self.inside(vec![properties.as_slice()], item);
                found.push(read(&mut inner));
            }
        }
        found
    }

    /// The texts of this list itself, whatever their names.
    pub fn all_texts(&mut self) -> Vec<Template> {
        let all: Vec<_> = self.layers.iter().flat_map(|layer| layer.iter()).collect();
        let mut found = Vec::new();
        for item in all {
            if let Raw::Scalar { text, .. } = &item.value {
                found.push(self.compiler.template(text, &item.place));
            }
        }
        found
    }

    /// Each element of a list of elements, of all layers.
    pub fn each<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&mut Reader<'_, 'a>) -> T,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for item in self.items(name) {
            if let Raw::Element(inner) = &item.value {
                let mut inner = self.inside(vec![inner.properties.as_slice()], item);
                found.push(read(&mut inner));
            }
        }
        found
    }

    /// An element inside the element, of all layers that have it.
    pub fn inner<T>(&mut self, name: &str, read: impl FnOnce(&mut Reader<'_, 'a>) -> T) -> T {
        self.compiler
            .names_read
            .push((name.to_owned(), Type::Element));
        let mut layers: Vec<&'r [Property]> = Vec::new();
        for layer in &self.layers {
            if let Some(Property {
                value: Raw::Element(inner),
                ..
            }) = find(layer, name)
            {
                layers.push(&inner.properties);
            }
        }
        read(&mut Reader {
            layers,
            place: self.place_of(name),
            compiler: self.compiler,
            label: name,
        })
    }

    /// The XML of a property.
    pub fn object(&mut self, name: &str) -> Option<&'r crate::xml::Element> {
        self.compiler
            .names_read
            .push((name.to_owned(), Type::Element));
        let found = self.layers.iter().find_map(|layer| find(layer, name))?;
        match &found.value {
            Raw::Object(element) => Some(element),
            _ => None,
        }
    }

    /// Where a property stands, or the element when it has none.
    pub fn place_of(&self, name: &str) -> Place {
        let found = self.layers.iter().find_map(|layer| find(layer, name));
        found
            .map_or(&self.place, |property| &property.place)
            .clone()
    }

    fn items(&mut self, name: &str) -> Vec<&'r Property> {
        self.compiler.names_read.push((name.to_owned(), Type::List));
        let mut found = Vec::new();
        for layer in &self.layers {
            match find(layer, name).map(|property| (&property.value, property)) {
                Some((Raw::List(items), _)) => found.extend(items),
                Some((_, property)) => {
                    let says = wrong_type(name, Type::List, "…");
                    self.compiler.problems.error(property.place.clone(), says);
                }
                None => {}
            }
        }
        found
    }

    fn inside<'s>(&'s mut self, layers: Vec<&'s [Property]>, of: &'s Property) -> Reader<'s, 'a> {
        Reader {
            layers,
            place: of.place.clone(),
            compiler: self.compiler,
            label: &of.name,
        }
    }

    fn value<T: Copy>(
        &mut self,
        name: &str,
        wanted: Type,
        default: T,
        parse: fn(&str) -> Option<T>,
    ) -> Value<T> {
        match self.raw(name, wanted) {
            Some((text, place)) => self.parsed(name, text, place, wanted, default, parse),
            None => Value::Fixed(default),
        }
    }

    fn parsed<T: Copy>(
        &mut self,
        name: &str,
        text: &str,
        place: &Place,
        wanted: Type,
        default: T,
        parse: fn(&str) -> Option<T>,
    ) -> Value<T> {
        let template = self.compiler.template(text, place);
        let Some(constant) = template.constant() else {
            return Value::Live(template);
        };
        if constant.trim().is_empty() {
            return Value::Fixed(default);
        }
        Value::Fixed(parse(constant.trim()).unwrap_or_else(|| {
            let says = wrong_type(name, wanted, constant);
            self.compiler.problems.error(place.clone(), says);
            default
        }))
    }

    fn at_start<T>(&mut self, name: &str, wanted: Type, parse: fn(&str) -> Option<T>) -> Option<T> {
        let (text, place) = self.raw(name, wanted)?;
        let said = self.compiler.at_start(text, place);
        if said.trim().is_empty() {
            return None;
        }
        let parsed = parse(said.trim());
        if parsed.is_none() {
            let says = wrong_type(name, wanted, &said);
            self.compiler.problems.error(place.clone(), says);
        }
        parsed
    }
}

fn wrong_type(name: &str, wanted: Type, value: &str) -> Text {
    Text::new("jmx-wrong-type")
        .word("property", name)
        .word("type", wanted.name())
        .word("value", excerpt(value))
}

fn parse_flag(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn parse_integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn parse_decimal(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The position of the next element in a list.
pub(crate) fn next_id<T>(list: &[T]) -> Id {
    list.len() as Id
}
