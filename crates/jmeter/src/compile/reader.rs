//! Reads the properties of one element.

use sokudo_model::Text;

use super::{Compiler, Type, excerpt};
use crate::expression::Template;
use crate::node::{ElementNode, Property, PropertyValue, find};
use crate::plan::Value;
use crate::problem::FilePosition;

/// The properties of one element, with its defaults behind it.
pub(crate) struct ElementReader<'r, 'a> {
    /// Properties of the element, then those of its defaults from the inside out.
    layers: Vec<&'r [Property]>,
    /// Place of the element.
    pub place: FilePosition,
    pub compiler: &'r mut Compiler<'a>,
    /// Name of the property that contains the element, if it is inside another.
    pub label: &'r str,
}

/// A scalar as it stands in the plan.
struct RawText<'r> {
    text: &'r str,
    place: &'r FilePosition,
    /// True if it is a `stringProp`.
    is_text: bool,
}

impl<'r, 'a> ElementReader<'r, 'a> {
    pub fn new(node: &'r ElementNode, compiler: &'r mut Compiler<'a>) -> Self {
        Self::with_defaults(node, &[], compiler)
    }

    pub fn with_defaults(
        node: &'r ElementNode,
        defaults: &[&'r ElementNode],
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

    /// Text and place of a scalar, from the first layer that has it. An empty text counts as not
    /// given, because in JMeter a default behind it wins, too.
    fn raw(&mut self, name: &str, wanted: Type) -> Option<RawText<'r>> {
        self.compiler.names_read.push((name.to_owned(), wanted));
        for layer in &self.layers {
            let Some(property) = find(layer, name) else {
                continue;
            };
            match &property.value {
                PropertyValue::Scalar { text, is_text } if !(*is_text && text.is_empty()) => {
                    return Some(RawText {
                        text,
                        place: &property.place,
                        is_text: *is_text,
                    });
                }
                PropertyValue::Scalar { .. } => {}
                _ => {
                    let says = wrong_type(name, wanted, "…");
                    self.compiler.problems.error(property.place.clone(), says);
                }
            }
        }
        None
    }

    /// Records names that are known and have no effect.
    pub fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.compiler.names_ignored.push(name.to_string());
        }
    }

    /// Records names that are known; those that are true ask for something unsupported and are
    /// reported.
    pub fn unheeded(&mut self, element: &str, names: &[&str]) {
        self.ignore(names);
        for name in names {
            let found = self.layers.iter().find_map(|layer| find(layer, name));
            let Some(Property {
                value: PropertyValue::Scalar { text, .. },
                place,
                ..
            }) = found
            else {
                continue;
            };
            if text.trim().eq_ignore_ascii_case("true") {
                let says = Text::new("jmx-unread-property")
                    .word("element", element)
                    .word("property", *name);
                self.compiler.problems.warning(place.clone(), says);
            }
        }
    }

    /// A text.
    pub fn text(&mut self, name: &str) -> Template {
        match self.raw(name, Type::Text) {
            Some(RawText { text, place, .. }) => self.compiler.template(text, place),
            None => Template::default(),
        }
    }

    /// A text; `otherwise` if it is empty.
    pub fn text_or(&mut self, name: &str, default: &str) -> Template {
        let text = self.text(name);
        if text.is_empty() {
            return Template::text(default);
        }
        text
    }

    /// A text that must be constant.
    pub fn start_text(&mut self, name: &str) -> String {
        match self.raw(name, Type::Text) {
            Some(RawText { text, place, .. }) => self.compiler.at_start(text, place),
            None => String::new(),
        }
    }

    /// True or false.
    pub fn flag(&mut self, name: &str, default: bool) -> Value<bool> {
        self.value(name, Type::Flag, default, parse_flag)
    }

    /// An integer.
    pub fn integer(&mut self, name: &str, default: i64) -> Value<i64> {
        self.value(name, Type::Integer, default, parse_integer)
    }

    /// An optional integer; an empty text is none.
    pub fn integer_if(&mut self, name: &str) -> Option<Value<i64>> {
        let raw = self.raw(name, Type::Integer)?;
        Some(self.parsed(name, &raw, Type::Integer, parse_integer))
    }

    /// An optional integer; an empty text is zero.
    pub fn integer_given(&mut self, name: &str) -> Option<Value<i64>> {
        let given = self.integer_if(name);
        given.or_else(|| self.is_empty(name).then_some(Value::Fixed(0)))
    }

    /// A finite number.
    pub fn decimal(&mut self, name: &str, default: f64) -> Value<f64> {
        self.value(name, Type::Decimal, default, parse_decimal)
    }

    /// True or false; must be constant.
    pub fn start_flag(&mut self, name: &str, default: bool) -> bool {
        let given = self.at_start(name, Type::Flag, parse_flag);
        given.unwrap_or(default && !self.is_empty(name))
    }

    /// An integer; must be constant.
    pub fn start_integer(&mut self, name: &str) -> Option<i64> {
        self.at_start(name, Type::Integer, parse_integer)
    }

    /// An integer; must be constant. An empty text is zero.
    pub fn start_integer_given(&mut self, name: &str) -> Option<i64> {
        let given = self.start_integer(name);
        given.or_else(|| self.is_empty(name).then_some(0))
    }

    /// A finite number; must be constant.
    pub fn start_decimal(&mut self, name: &str) -> Option<f64> {
        self.at_start(name, Type::Decimal, parse_decimal)
    }

    /// One of several words; the first if none is given. Unknown words are an error.
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
            PropertyValue::Scalar { text, .. } => Some((text.as_str(), &item.place)),
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
        read: impl FnMut(&mut ElementReader<'_, 'a>) -> T,
    ) -> Vec<T> {
        self.each_of(name, PropertyValue::as_list, read)
    }

    /// The texts of this list itself, whatever their names.
    pub fn all_texts(&mut self) -> Vec<Template> {
        let all: Vec<_> = self.layers.iter().flat_map(|layer| layer.iter()).collect();
        let mut found = Vec::new();
        for item in all {
            if let PropertyValue::Scalar { text, .. } = &item.value {
                found.push(self.compiler.template(text, &item.place));
            }
        }
        found
    }

    /// Each element of a list of elements, of all layers.
    pub fn each<T>(
        &mut self,
        name: &str,
        read: impl FnMut(&mut ElementReader<'_, 'a>) -> T,
    ) -> Vec<T> {
        self.each_of(name, PropertyValue::as_element, read)
    }

    fn each_of<T>(
        &mut self,
        name: &str,
        properties: fn(&PropertyValue) -> Option<&[Property]>,
        mut read: impl FnMut(&mut ElementReader<'_, 'a>) -> T,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for item in self.items(name) {
            if let Some(properties) = properties(&item.value) {
                let mut inner = self.inside(vec![properties], item);
                found.push(read(&mut inner));
            }
        }
        found
    }

    /// True if the plan contains this element at all.
    pub fn is_given(&self) -> bool {
        !self.layers.is_empty()
    }

    /// An element inside the element, of all layers that have it.
    pub fn inner<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut ElementReader<'_, 'a>) -> T,
    ) -> T {
        self.compiler
            .names_read
            .push((name.to_owned(), Type::Element));
        let mut layers: Vec<&'r [Property]> = Vec::new();
        for layer in &self.layers {
            if let Some(Property {
                value: PropertyValue::Element(inner),
                ..
            }) = find(layer, name)
            {
                layers.push(&inner.properties);
            }
        }
        read(&mut ElementReader {
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
            PropertyValue::Object(element) => Some(element),
            _ => None,
        }
    }

    /// Place of a property, or of the element if it does not have the property.
    pub fn place_of(&self, name: &str) -> FilePosition {
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
                Some((PropertyValue::List(items), _)) => found.extend(items),
                Some((_, property)) => {
                    let says = wrong_type(name, Type::List, "…");
                    self.compiler.problems.error(property.place.clone(), says);
                }
                None => {}
            }
        }
        found
    }

    fn inside<'s>(
        &'s mut self,
        layers: Vec<&'s [Property]>,
        of: &'s Property,
    ) -> ElementReader<'s, 'a> {
        ElementReader {
            layers,
            place: of.place.clone(),
            compiler: self.compiler,
            label: match &of.value {
                PropertyValue::Element(inner) => inner.name.as_ref().unwrap_or(&of.name),
                _ => &of.name,
            },
        }
    }

    fn value<T: Copy + Default>(
        &mut self,
        name: &str,
        wanted: Type,
        default: T,
        parse: fn(&str) -> Option<T>,
    ) -> Value<T> {
        match self.raw(name, wanted) {
            Some(raw) => self.parsed(name, &raw, wanted, parse),
            None if self.is_empty(name) => Value::Fixed(T::default()),
            None => Value::Fixed(default),
        }
    }

    /// True if a property is given with an empty text, which JMeter reads as zero or false.
    fn is_empty(&self, name: &str) -> bool {
        let found = self.layers.iter().filter_map(|layer| find(layer, name));
        let mut texts = found.filter_map(|property| match &property.value {
            PropertyValue::Scalar { text, .. } => Some(text),
            _ => None,
        });
        texts.any(|text| text.is_empty())
    }

    fn parsed<T: Copy + Default>(
        &mut self,
        name: &str,
        raw: &RawText<'_>,
        wanted: Type,
        parse: fn(&str) -> Option<T>,
    ) -> Value<T> {
        let template = self.compiler.template(raw.text, raw.place);
        let Some(constant) = template.constant() else {
            return Value::Live(template);
        };
        if constant.trim().is_empty() {
            return Value::Fixed(T::default());
        }
        let parsed = parse(constant);
        Value::Fixed(parsed.unwrap_or_else(|| self.misread(name, raw, wanted, constant)))
    }

    fn at_start<T: Default>(
        &mut self,
        name: &str,
        wanted: Type,
        parse: fn(&str) -> Option<T>,
    ) -> Option<T> {
        let raw = self.raw(name, wanted)?;
        let said = self.compiler.at_start(raw.text, raw.place);
        if said.trim().is_empty() {
            return None;
        }
        let parsed = parse(&said);
        Some(parsed.unwrap_or_else(|| self.misread(name, &raw, wanted, &said)))
    }

    /// Reports a value that does not have its type. JMeter takes a text for zero or false; another
    /// property with such a value does not load.
    fn misread<T: Default>(
        &mut self,
        name: &str,
        raw: &RawText<'_>,
        wanted: Type,
        value: &str,
    ) -> T {
        let problems = &mut self.compiler.problems;
        match raw.is_text {
            true => {
                let zero = if wanted == Type::Flag { "false" } else { "0" };
                let says = Text::new("jmx-read-as-zero")
                    .word("property", name)
                    .word("value", excerpt(value))
                    .word("zero", zero);
                problems.warning(raw.place.clone(), says);
            }
            false => problems.error(raw.place.clone(), wrong_type(name, wanted, value)),
        }
        T::default()
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
    let number = text.trim().parse().ok();
    number.filter(|number: &f64| number.is_finite())
}
