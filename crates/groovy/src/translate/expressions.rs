//! Expressions.

use super::delegate::OF_CLOSURES;
use super::statements::encoded;
use super::{Code, Translator, mark, quoted};
use crate::ast::{Access, Expr, ExprKind, GPart, Member, NumberKind, Parameter, Statement};
use crate::library::{CLASSES, MemberKind};
use crate::{Refusal, RefusalKind};

/// Functions of the languages that print.
const PRINTING: &[&str] = &["println", "print"];

impl Translator<'_> {
    pub(super) fn value(&mut self, of: &Expr) -> Code {
        let line = of.line;
        match &of.kind {
            ExprKind::Null => Code::new("null", ""),
            ExprKind::Bool(value) => Code::new(value.to_string(), "Boolean"),
            ExprKind::Number(kind, digits) => self.number(line, *kind, digits),
            ExprKind::Char(text) => Code::new(format!("$.char({})", quoted(text)), "Character"),
            ExprKind::Text(text) => Code::new(quoted(text), "String"),
            ExprKind::GString(parts) => self.gstring(parts),
            ExprKind::List(items) => Code::new(format!("$.list([{}])", self.items(items)), "List"),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Range {
                from,
                to,
                inclusive,
            } => {
                let (from, to) = (self.value(from).text, self.value(to).text);
                Code::new(format!("$.range({from},{to},{inclusive})"), "")
            }
            ExprKind::Name(name) => self.name(line, name),
            ExprKind::This => match self.in_class {
                Some((_, true)) => Code::new("self", ""),
                _ => {
                    self.refuse(line, RefusalKind::Construct, "this");
                    Code::new("null", "")
                }
            },
            ExprKind::Class(name) => {
                self.refuse(line, RefusalKind::Construct, name);
                Code::new("null", "")
            }
            ExprKind::Property {
                of: owner,
                name,
                access,
            } => self.property(of, owner, name, *access),
            ExprKind::Index { of, at } => self.index(of, at),
            ExprKind::Call {
                of: owner,
                name,
                access,
                arguments,
            } => match owner {
                None => self.own_call(line, name, arguments),
                Some(owner) => self.call(line, owner, (name, *access), arguments),
            },
            ExprKind::CallValue { of, arguments } => {
                let callee = self.value(of).text;
                Code::new(
                    format!("$.call({callee},\"call\",{})", self.list(arguments)),
                    "",
                )
            }
            ExprKind::New { class, arguments } => self.new_object(line, class, arguments),
            ExprKind::NewArray {
                class,
                length,
                items,
            } => self.new_array(line, class, length.as_deref(), items),
            ExprKind::Closure { parameters, body } => {
                self.closure(line, parameters.as_deref(), body)
            }
            ExprKind::Unary(operator, of) => self.unary(line, operator, of),
            ExprKind::Step {
                operator,
                is_prefix,
                of,
            } => self.step(line, operator, *is_prefix, of),
            ExprKind::Binary(operator, a, b) => self.binary(line, operator, a, b),
            ExprKind::Assign {
                to,
                operator,
                value,
            } => self.assign(line, to, operator, value),
            ExprKind::Ternary(test, a, b) => {
                let (test, a, b) = (self.truth(test), self.value(a), self.value(b));
                let class = if a.class == b.class { a.class } else { "" };
                Code::new(format!("({test}?{}:{})", a.text, b.text), class)
            }
            ExprKind::Elvis(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let class = if a.class == b.class { a.class } else { "" };
                Code::new(format!("$.elvis({},()=>{})", a.text, b.text), class)
            }
            ExprKind::Cast(class, of) => self.cast(line, "cast", class, of),
            ExprKind::As(of, class) => self.cast(line, "as", class, of),
            ExprKind::InstanceOf(of, class, holds) => {
                let (value, class) = (self.value(of).text, self.type_name(line, class));
                let not = if *holds { "" } else { "!" };
                Code::new(format!("{not}$.isA({value},{})", quoted(&class)), "Boolean")
            }
            ExprKind::Reference(of, name) => self.reference(line, of, name),
            ExprKind::Spread(_) => {
                self.refuse(line, RefusalKind::Construct, "*…");
                Code::new("null", "")
            }
        }
    }

    /// A method as a closure. Of a class it is a static one, a constructor, or one of its values, which then are the
    /// first argument.
    fn reference(&mut self, line: u32, of: &Expr, name: &str) -> Code {
        if of.kind == ExprKind::This && self.in_class.is_none() {
            let Some((_, least, _)) = self.methods.iter().find(|(known, ..)| known == name) else {
                self.refuse(line, RefusalKind::Method, name);
                return Code::new("null", "");
            };
            let text = format!("$.open({least},m_{})", encoded(name));
            return Code::new(text, "Closure");
        }
        let Some(class) = self.named_class(of) else {
            if let Some(class) = self.unknown_class(of) {
                self.refuse(line, RefusalKind::Class, class);
                return Code::new("null", "");
            }
            let owner = self.value(of).text;
            let text = format!("$.reference({owner},{})", quoted(name));
            return Code::new(text, "Closure");
        };
        let fewest = |kind, name: &str| {
            let has = |count: &usize| {
                let wanted = (name, *count);
                let found = CLASSES.members(class, kind, wanted, self.dialect);
                !found.is_empty()
            };
            (0..5).find(has)
        };
        let (kind, count) = match name {
            "new" => ("made", fewest(MemberKind::Constructor, name)),
            _ => match (
                fewest(MemberKind::Static, name),
                fewest(MemberKind::Method, name),
            ) {
                (Some(count), None) => ("static", Some(count)),
                (None, Some(count)) => ("own", Some(count + 1)),
                // Which of them is meant Groovy finds out by the arguments.
                (_, _) => ("", None),
            },
        };
        let Some(count) = count else {
            self.refuse(line, RefusalKind::Method, format!("{class}::{name}"));
            return Code::new("null", "");
        };
        let text = format!(
            "$.classReference({},{},\"{kind}\",{count})",
            quoted(class),
            quoted(name)
        );
        Code::new(text, "Closure")
    }

    pub(super) fn number(&mut self, line: u32, kind: NumberKind, digits: &str) -> Code {
        match kind {
            NumberKind::Integer => match (digits.parse::<i32>(), digits.parse::<i64>()) {
                (Ok(_), _) => Code::new(format!("({digits})"), "Integer"),
                (_, Ok(_)) if self.is_groovy() => Code::new(format!("({digits}n)"), "Long"),
                (..) if self.is_groovy() => {
                    Code::new(format!("$.bigInteger(\"{digits}\")"), "BigInteger")
                }
                (..) => {
                    self.refuse(line, RefusalKind::Syntax, digits);
                    Code::new("0", "Integer")
                }
            },
            NumberKind::Long => match digits.parse::<i64>() {
                Ok(_) => Code::new(format!("({digits}n)"), "Long"),
                Err(_) => {
                    self.refuse(line, RefusalKind::Syntax, digits);
                    Code::new("0n", "Long")
                }
            },
            NumberKind::BigInteger => {
                Code::new(format!("$.bigInteger(\"{digits}\")"), "BigInteger")
            }
            NumberKind::Decimal => Code::new(format!("$.decimal(\"{digits}\")"), "BigDecimal"),
            NumberKind::Double => Code::new(
                format!("$.double({})", digits.trim_end_matches('.')),
                "Double",
            ),
            NumberKind::Float => Code::new(
                format!("$.float({})", digits.trim_end_matches('.')),
                "Float",
            ),
        }
    }

    fn gstring(&mut self, parts: &[GPart]) -> Code {
        let mut texts = Vec::new();
        for part in parts {
            texts.push(match part {
                GPart::Text(text) => quoted(text),
                GPart::Value(value) => format!("[{}]", self.value(value).text),
            });
        }
        Code::new(format!("$.gstring([{}])", texts.join(",")), "GString")
    }

    fn map(&mut self, entries: &[(Expr, Expr)]) -> Code {
        let mut pairs = Vec::new();
        for (key, value) in entries {
            if let ExprKind::Spread(_) = key.kind {
                pairs.push(format!("...$.pairs({})", self.value(value).text));
                continue;
            }
            let (key, value) = (self.value(key).text, self.value(value).text);
            pairs.push(format!("[{key},{value}]"));
        }
        Code::new(format!("$.map([{}])", pairs.join(",")), "Map")
    }

    /// Items of a list or arguments, separated by commas.
    fn items(&mut self, items: &[Expr]) -> String {
        let mut texts = Vec::new();
        for item in items {
            texts.push(match &item.kind {
                ExprKind::Spread(list) => format!("...$.many({})", self.value(list).text),
                _ => self.value(item).text,
            });
        }
        texts.join(",")
    }

    pub(super) fn list(&mut self, items: &[Expr]) -> String {
        format!("[{}]", self.items(items))
    }

    pub(super) fn name(&mut self, line: u32, name: &str) -> Code {
        if let Some(variable) = self.scopes.find(name) {
            let class = match self.assigned.contains(name) && variable.declared.is_empty() {
                true => "",
                false => variable.class,
            };
            return match variable.is_hoisted {
                true => Code::new(format!("$.set({},{})", variable.text, quoted(name)), ""),
                false => Code::new(variable.text.clone(), class),
            };
        }
        self.refuse_delegated(line, name);
        if let Some(code) = self.own_name(name) {
            return code;
        }
        if let Some(class) = self.imported_static(MemberKind::Field, (name, 0)) {
            return self.static_property(line, class, name);
        }
        if self.in_class.is_some() {
            self.refuse(line, RefusalKind::Name, name);
            return Code::new("null", "");
        }
        if let Some(binding) = self.bindings.iter().find(|binding| binding.name == name) {
            let variable = self.scopes.make_global(name);
            let class = if self.assigned.contains(name) {
                ""
            } else {
                binding.class
            };
            return Code::new(variable, class);
        }
        // In Groovy, a closure or method may read what the script assigns later.
        let is_later = self.is_groovy() && self.assigned.contains(name);
        if self.scopes.global(name).is_some() || is_later {
            let variable = self.scopes.make_global(name);
            return Code::new(format!("$.set({variable},{})", quoted(name)), "");
        }
        // What every script of Groovy has itself.
        const OF_SCRIPTS: &[&str] = &["binding", "class", "metaClass", "properties"];
        let is_plain = name.starts_with(|c: char| c.is_lowercase() || c == '_');
        if !self.is_groovy() || !is_plain || OF_SCRIPTS.contains(&name) {
            self.refuse(line, RefusalKind::Name, name);
            return Code::new("null", "");
        }
        self.doubts
            .push(Refusal::new(line, RefusalKind::Name, name));
        Code::new(format!("$.missing({})", quoted(name)), "")
    }

    /// The class that an expression names, as in `Math` and `java.util.UUID`.
    fn named_class(&self, of: &Expr) -> Option<&'static str> {
        let name = dotted(of)?;
        let first = name.split('.').next().unwrap_or_default();
        let is_variable = self.scopes.find(first).is_some()
            || self.bindings.iter().any(|binding| binding.name == first)
            || self.scopes.global(first).is_some();
        if is_variable {
            return None;
        }
        let wrapper = match &of.kind {
            ExprKind::Class(primitive) => Some(primitive.as_str()),
            _ => None,
        };
        match wrapper {
            Some(_) => None,
            None => self.class(&name).map(|class| class.name),
        }
    }

    /// True if an expression can only be the name of a class that is not known.
    fn unknown_class(&self, of: &Expr) -> Option<String> {
        let name = dotted(of)?;
        let first = name.split('.').next().unwrap_or_default();
        let is_variable = self.scopes.find(first).is_some()
            || self.bindings.iter().any(|binding| binding.name == first)
            || self.scopes.global(first).is_some()
            || self.own_class(first).is_some()
            || self.assigned.contains(first);
        // A constant of a class is written like a class.
        let is_known = |at: usize| self.class(&name[..at]).is_some();
        let is_part = name.match_indices('.').any(|(at, _)| is_known(at));
        let last = name.rsplit('.').next().unwrap_or_default();
        let capital = last.starts_with(char::is_uppercase);
        (!is_variable && !is_part && capital).then_some(name)
    }

    fn property(&mut self, whole: &Expr, of: &Expr, name: &Member, access: Access) -> Code {
        let line = whole.line;
        if let Member::Fixed(name) = name {
            // What a script calls `this.name` is its variable.
            if of.kind == ExprKind::This && self.in_class.is_none() {
                return self.name(line, name);
            }
            if let Some(class) = self.own_class_of(of) {
                return self.own_constant(line, class, name);
            }
            if let Some(class) = self.named_class(of) {
                return self.static_property(line, class, name);
            }
            if let Some(class) = self.unknown_class(whole).or_else(|| self.unknown_class(of)) {
                self.refuse(line, RefusalKind::Class, class);
                return Code::new("null", "");
            }
        }
        let owner = self.value(of);
        let name_text = match name {
            Member::Fixed(name) => quoted(name),
            Member::Computed(name) => format!("$.key({})", self.value(name).text),
        };
        let class = match (name, access) {
            (Member::Fixed(name), Access::Plain | Access::Safe) if !owner.class.is_empty() => {
                self.check_getter(line, owner.class, name)
            }
            _ => "",
        };
        let function = match access {
            Access::Plain => "property",
            Access::Safe => "safeProperty",
            Access::Spread => "spreadProperty",
        };
        Code::new(format!("$.{function}({},{name_text})", owner.text), class)
    }

    fn static_property(&mut self, line: u32, class: &'static str, name: &str) -> Code {
        let fields = CLASSES.members(class, MemberKind::Field, (name, 0), self.dialect);
        let getter = getter(name, "get");
        let getters = CLASSES.members(class, MemberKind::Static, (&getter, 0), self.dialect);
        if let Some(field) = fields.first() {
            return Code::new(
                format!("$.field({},{})", quoted(class), quoted(name)),
                field.result,
            );
        }
        if let (Some(method), true) = (getters.first(), self.is_groovy()) {
            return Code::new(
                format!("$.static({},{},[])", quoted(class), quoted(&getter)),
                method.result,
            );
        }
        self.refuse(line, RefusalKind::Property, format!("{class}.{name}"));
        Code::new("null", "")
    }

    /// Refuses a property that a class does not have; gives the class of its value.
    fn check_getter(&mut self, line: u32, class: &'static str, name: &str) -> &'static str {
        // Keys of maps and properties of the items of lists are known when the script runs.
        if matches!(
            class,
            "Map" | "HashMap" | "LinkedHashMap" | "TreeMap" | "JMeterVariables" | "Properties"
        ) {
            return "";
        }
        if matches!(
            class,
            "List" | "ArrayList" | "LinkedList" | "Set" | "Array" | "Matcher"
        ) && self.is_groovy()
            || name == "class"
            || class == "Array" && name == "length"
        {
            return if name == "length" { "Integer" } else { "" };
        }
        let fields = CLASSES.members(class, MemberKind::Field, (name, 0), self.dialect);
        if let Some(field) = fields.first() {
            return field.result;
        }
        for prefix in ["get", "is"] {
            let getter = getter(name, prefix);
            let found = CLASSES.members(class, MemberKind::Method, (&getter, 0), self.dialect);
            if let Some(method) = found.first() {
                return method.result;
            }
        }
        self.refuse(line, RefusalKind::Property, format!("{class}.{name}"));
        ""
    }

    /// Refuses the assignment of a property that a class does not have.
    pub(super) fn check_setter(&mut self, line: u32, class: &'static str, name: &str) {
        if matches!(
            class,
            "Map" | "HashMap" | "LinkedHashMap" | "TreeMap" | "Properties" | "JMeterVariables"
        ) {
            return;
        }
        let setter = getter(name, "set");
        if CLASSES
            .members(class, MemberKind::Method, (&setter, 1), self.dialect)
            .is_empty()
        {
            self.refuse(line, RefusalKind::Property, format!("{class}.{name} ="));
        }
    }

    fn index(&mut self, of: &Expr, at: &[Expr]) -> Code {
        let owner = self.value(of).text;
        match at {
            [one] if !matches!(one.kind, ExprKind::Spread(_)) => {
                let index = self.value(one).text;
                Code::new(format!("$.at({owner},{index})"), "")
            }
            many => Code::new(format!("$.at({owner},$.list({}))", self.list(many)), ""),
        }
    }

    fn call(
        &mut self,
        line: u32,
        of: &Expr,
        (name, access): (&Member, Access),
        arguments: &[Expr],
    ) -> Code {
        let Member::Fixed(name) = name else {
            self.refuse(line, RefusalKind::Construct, "….\"…\"()");
            return Code::new("null", "");
        };
        if of.kind == ExprKind::This && self.in_class.is_none() {
            return self.own_call(line, &Member::Fixed(name.clone()), arguments);
        }
        if let Some(class) = self.own_class_of(of) {
            return self.own_static_call(line, class, (name, arguments));
        }
        if let Some(class) = self.named_class(of) {
            return self.static_call(line, class, name, arguments);
        }
        if let Some(class) = self.unknown_class(of) {
            self.refuse(line, RefusalKind::Class, class);
            return Code::new("null", "");
        }
        let owner = self.value(of);
        if owner.text.starts_with("$.missing(") {
            return owner;
        }
        if access == Access::Plain
            && let Some(code) = self.with(&owner, name, arguments)
        {
            return code;
        }
        if let (Access::Plain, Some(code)) = (access, self.json_call(&owner, name, arguments)) {
            return code;
        }
        let has_spread = arguments
            .iter()
            .any(|argument| matches!(argument.kind, ExprKind::Spread(_)));
        let class = match has_spread {
            true => "",
            false if access == Access::Spread => {
                self.check_method(line, "", name, arguments.len());
                ""
            }
            false => self.check_method(line, owner.class, name, arguments.len()),
        };
        let arguments = self.list(arguments);
        let (mark, name) = (mark(line), quoted(name));
        Code::new(
            match access {
                Access::Plain => format!("$.call({},{mark}{name},{arguments})", owner.text),
                Access::Safe => format!("$.safeCall({},{mark}{name},()=>{arguments})", owner.text),
                Access::Spread => {
                    format!("$.spreadCall({},{mark}{name},()=>{arguments})", owner.text)
                }
            },
            class,
        )
    }

    /// Refuses a method that the class, or no class at all, has; gives the class of its value.
    fn check_method(
        &mut self,
        line: u32,
        class: &'static str,
        name: &str,
        arguments: usize,
    ) -> &'static str {
        if class.is_empty() {
            let is_known =
                CLASSES.any_has(name, arguments, self.dialect) || self.any_own_has(name, arguments);
            if !is_known {
                self.refuse(line, RefusalKind::Method, format!("{name}({arguments})"));
            }
            return "";
        }
        let found = CLASSES.members(class, MemberKind::Method, (name, arguments), self.dialect);
        let Some(first) = found.first() else {
            if self.is_surely_missing(class, name) {
                let what = format!("{class}.{name}({arguments})");
                self.doubts
                    .push(Refusal::new(line, RefusalKind::Method, what));
                return "";
            }
            // A closure in a map can be called as a method.
            if class != "Map" {
                self.refuse(
                    line,
                    RefusalKind::Method,
                    format!("{class}.{name}({arguments})"),
                );
            }
            return "";
        };
        match found.iter().all(|method| method.result == first.result) {
            true => first.result,
            false => "",
        }
    }

    /// True for a method that a class of JMeter does not have either, as people take it for granted.
    fn is_surely_missing(&self, class: &str, name: &str) -> bool {
        let is_missing = match class {
            "JMeterVariables" => !matches!(
                name,
                "incIteration" | "getIterator" | "isSameUserOnNextIteration"
            ),
            "Properties" => matches!(name, "getObject" | "putObject"),
            _ => false,
        };
        is_missing && self.is_groovy() && !OF_CLOSURES.contains(&name)
    }

    fn static_call(
        &mut self,
        line: u32,
        class: &'static str,
        name: &str,
        arguments: &[Expr],
    ) -> Code {
        let found = CLASSES.members(
            class,
            MemberKind::Static,
            (name, arguments.len()),
            self.dialect,
        );
        let result = match found.first() {
            Some(first) if found.iter().all(|method| method.result == first.result) => first.result,
            Some(_) => "",
            None => {
                self.refuse(
                    line,
                    RefusalKind::Method,
                    format!("{class}.{name}({})", arguments.len()),
                );
                ""
            }
        };
        let arguments = self.list(arguments);
        let (class, name) = (quoted(class), quoted(name));
        Code::new(
            format!("$.static({class},{}{name},{arguments})", mark(line)),
            result,
        )
    }

    /// A call without an object: a method of the script, a closure in a variable, or printing.
    fn own_call(&mut self, line: u32, name: &Member, arguments: &[Expr]) -> Code {
        let Member::Fixed(name) = name else {
            return Code::new("null", "");
        };
        let count = arguments.len();
        if self.scopes.find(name).is_none()
            && let Some(code) = self.delegated(line, name, arguments)
        {
            return code;
        }
        if self.scopes.find(name).is_none()
            && let Some(code) = self.own_class_call(name, arguments)
        {
            return code;
        }
        let in_script = self.in_class.is_none();
        let mut methods = self.methods.iter();
        if let (true, Some(place)) = (in_script, methods.position(|(known, ..)| known == name)) {
            let (_, least, most) = self.methods[place];
            // BeanShell does not know a method before the line that defines it.
            let is_early =
                !self.is_groovy() && !self.scopes.in_method() && line < self.method_lines[place];
            if is_early || !(least..=most).contains(&count) {
                self.refuse(line, RefusalKind::Method, format!("{name}({count})"));
            }
            return Code::new(
                format!("m_{}({})", encoded(name), self.items(arguments)),
                "",
            );
        }
        let is_variable = self.scopes.find(name).is_some() || self.scopes.global(name).is_some();
        if is_variable && self.is_groovy() {
            let callee = self.name(line, name);
            if let Some(code) = self.json_call(&callee, "call", arguments) {
                return code;
            }
            let callee = callee.text;
            return Code::new(
                format!(
                    "$.call({callee},{}\"call\",{})",
                    mark(line),
                    self.list(arguments)
                ),
                "",
            );
        }
        if let Some(class) = self.imported_static(MemberKind::Static, (name, count)) {
            return self.static_call(line, class, name, arguments);
        }
        if let Some(code) = self.json_entry(line, name, arguments) {
            return code;
        }
        if PRINTING.contains(&name.as_str())
            && (count == 1 || count == 0 && name == "println" && self.is_groovy())
        {
            return Code::new(format!("$.print({})", self.list(arguments)), "");
        }
        if matches!(name.as_str(), "printf" | "sprintf") && count > 0 && self.is_groovy() {
            let formatted = format!(
                "$.static(\"String\",{}\"format\",{})",
                mark(line),
                self.list(arguments)
            );
            return match name.as_str() {
                "sprintf" => Code::new(formatted, "String"),
                _ => Code::new(format!("$.print([{formatted}])"), ""),
            };
        }
        if name == "sleep" && count == 1 && self.is_groovy() {
            return Code::new(
                format!("$.static(\"Thread\",\"sleep\",{})", self.list(arguments)),
                "",
            );
        }
        self.refuse(line, RefusalKind::Method, format!("{name}({count})"));
        Code::new("null", "")
    }

    fn new_object(&mut self, line: u32, name: &str, arguments: &[Expr]) -> Code {
        if let Some(class) = self.own_class(name) {
            return self.new_own(line, class, arguments);
        }
        let class = match self.class(name) {
            Some(class) => class.name,
            None => {
                self.refuse(line, RefusalKind::Class, name);
                return Code::new("null", "");
            }
        };
        let found = CLASSES.members(
            class,
            MemberKind::Constructor,
            ("new", arguments.len()),
            self.dialect,
        );
        if found.is_empty() {
            self.refuse(
                line,
                RefusalKind::Method,
                format!("new {class}({})", arguments.len()),
            );
        }
        let arguments = self.list(arguments);
        Code::new(
            format!("$.new({},{}{arguments})", quoted(class), mark(line)),
            class,
        )
    }

    fn new_array(&mut self, line: u32, class: &str, length: Option<&Expr>, items: &[Expr]) -> Code {
        let item = self.type_name(line, class);
        let item = quoted(&item);
        match length {
            Some(length) => {
                let length = self.value(length).text;
                Code::new(format!("$.newArray({item},{length})"), "Array")
            }
            None => Code::new(format!("$.array({item},{})", self.list(items)), "Array"),
        }
    }

    fn closure(&mut self, line: u32, parameters: Option<&[Parameter]>, body: &[Statement]) -> Code {
        self.scopes.open();
        let (list, conversions, count) = match parameters {
            Some(parameters) => {
                let (list, conversions) = self.parameters(line, parameters);
                (list, conversions, parameters.len() as i64)
            }
            None => (
                format!("{}=null", self.scopes.declare("it", String::new(), "")),
                String::new(),
                -1,
            ),
        };
        let least = parameters.map_or(0, |all| {
            all.iter().filter(|one| one.otherwise.is_none()).count()
        });
        let body = self.block(body, true);
        self.scopes.close();
        Code::new(
            format!("$.closure({count},{least},({list})=>{{{conversions}{body}return null;}})"),
            "Closure",
        )
    }

    fn cast(&mut self, line: u32, function: &str, class: &str, of: &Expr) -> Code {
        let value = self.value(of).text;
        if class == "Object" {
            // It chooses between methods by the static type, which is not known here.
            self.refuse(line, RefusalKind::Construct, "(Object)");
        }
        let known = self.class_named(line, class);
        let name = self.type_name(line, class);
        Code::new(format!("$.{function}({},{value})", quoted(&name)), known)
    }

    /// The value of a case, which may be a class.
    pub(super) fn case(&mut self, of: &Expr) -> String {
        match self.named_class(of) {
            Some(class) => format!("$.class({})", quoted(class)),
            None => self.value(of).text,
        }
    }
}

/// A row of names with dots; `None`: the expression is something else.
fn dotted(of: &Expr) -> Option<String> {
    match &of.kind {
        ExprKind::Name(name) | ExprKind::Class(name) => Some(name.clone()),
        ExprKind::Property {
            of,
            name: Member::Fixed(name),
            access: Access::Plain,
        } => Some(dotted(of)? + "." + name),
        _ => None,
    }
}

/// The name of the method behind a property.
pub(super) fn getter(name: &str, prefix: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => format!("{prefix}{}{}", first.to_uppercase(), chars.as_str()),
        None => prefix.into(),
    }
}
