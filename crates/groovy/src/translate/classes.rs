//! Classes of a script.
//!
//! ```text
//! class P { int x; P(x) { this.x = x }; def twice() { x * 2 } }
//!   ─► $.define("P", "Object", {fields: [["x", "int", init]], made: [[1, 1, (self, v) => …]],
//!                               methods: {twice: [[0, 0, (self) => …]]}, statics: {}, constants: {}})
//! ```
//!
//! A method sees its parameters and its class, and nothing of the script. Static fields are constants: others would
//! keep their values for the executions that follow, of all users.

use super::statements::initial;
use super::{Code, Translator, mark, quoted};
use crate::RefusalKind;
use crate::ast::{ClassDefinition, ClassMethod, Expr, ExprKind, StatementKind, Tree};
use crate::library::CLASSES;

/// What is known of a class before its methods are translated.
pub(super) struct OwnClass {
    name: String,
    parent: Option<usize>,
    /// Name, and whether it is static.
    fields: Vec<(String, bool)>,
    methods: Vec<OwnMethod>,
}

struct OwnMethod {
    name: String,
    least: usize,
    most: usize,
    is_static: bool,
}

impl Translator<'_> {
    /// The class of the script with this name.
    pub(super) fn own_class(&self, name: &str) -> Option<usize> {
        self.own.iter().position(|class| class.name == name)
    }

    /// The class of the script that an expression names.
    pub(super) fn own_class_of(&self, of: &Expr) -> Option<usize> {
        match &of.kind {
            ExprKind::Name(name) => self.own_class(name),
            _ => None,
        }
    }

    /// A class and those that it extends.
    fn line_of(&self, class: usize) -> impl Iterator<Item = &OwnClass> {
        let mut at = Some(class);
        std::iter::from_fn(move || {
            let class = &self.own[at?];
            at = class.parent;
            Some(class)
        })
    }

    pub(super) fn collect_classes(&mut self, tree: &Tree) {
        for statement in &tree.statements {
            let StatementKind::Class(class) = &statement.kind else {
                continue;
            };
            let is_taken = self.own_class(&class.name).is_some();
            if is_taken || CLASSES.get(&class.name).is_some() {
                self.refuse(
                    statement.line,
                    RefusalKind::Construct,
                    format!("class {} (2)", class.name),
                );
            }
            let parent = self.own_class(&class.parent);
            if parent.is_none() && !matches!(class.parent.as_str(), "" | "Object") {
                let what = format!("extends {}", class.parent);
                self.refuse(statement.line, RefusalKind::Construct, what);
            }
            let fields = class.fields.iter();
            let methods = class.methods.iter().map(|one| {
                let parameters = &one.method.parameters;
                let given = parameters.iter().filter(|p| p.otherwise.is_none());
                OwnMethod {
                    name: one.method.name.clone(),
                    least: given.count(),
                    most: parameters.len(),
                    is_static: one.is_static,
                }
            });
            self.own.push(OwnClass {
                name: class.name.clone(),
                parent,
                fields: fields.map(|f| (f.name.clone(), f.is_static)).collect(),
                methods: methods.collect(),
            });
        }
    }

    /// The definitions of all classes, which stand before everything else.
    pub(super) fn defined_classes(&mut self, tree: &Tree) -> String {
        let mut out = String::new();
        for statement in &tree.statements {
            if let StatementKind::Class(class) = &statement.kind {
                out.push_str(&mark(statement.line));
                out.push_str(&self.defined(class));
            }
        }
        out
    }

    fn defined(&mut self, class: &ClassDefinition) -> String {
        let Some(index) = self.own_class(&class.name) else {
            return String::new();
        };
        let (mut fields, mut constants) = (Vec::new(), Vec::new());
        for field in &class.fields {
            self.in_class = Some((index, !field.is_static));
            let declared = self.type_name(field.line, &field.class);
            let before = self.scopes.enter_method();
            let begins = match &field.value {
                Some(value) => {
                    let code = self.value_for(&declared, value);
                    self.converted(&declared, code.text, code.class)
                }
                None => initial(&declared, true).into(),
            };
            self.scopes.leave_method(before);
            let name = quoted(&field.name);
            match field.is_static {
                true if !field.is_final => {
                    let what = format!("static {}", field.name);
                    self.refuse(field.line, RefusalKind::Construct, what);
                }
                true => constants.push(format!("[{name},()=>{begins}]")),
                false => {
                    fields.push(format!("[{name},{},(self)=>{begins}]", quoted(&declared)));
                }
            }
        }
        let mut methods = Vec::new();
        for method in &class.methods {
            methods.push(self.own_method(index, method));
        }
        self.in_class = None;
        let parent = match class.parent.as_str() {
            "" => "Object",
            parent => parent,
        };
        format!(
            "$.define({},{},[{}],[{}],[{}]);",
            quoted(&class.name),
            quoted(parent),
            fields.join(","),
            constants.join(","),
            methods.join(",")
        )
    }

    /// `[name, is static, fewest arguments, most, function]`.
    fn own_method(&mut self, class: usize, one: &ClassMethod) -> String {
        let method = &one.method;
        let others = self.own[class].methods.iter();
        let counts = |other: &&OwnMethod| {
            let least = method.parameters.iter().filter(|p| p.otherwise.is_none());
            other.name == method.name
                && other.least <= method.parameters.len()
                && other.most >= least.count()
        };
        if others.filter(counts).count() != 1 {
            let what = format!("{}.{}(…) (2)", self.own[class].name, method.name);
            self.refuse(one.line, RefusalKind::Construct, what);
        }
        self.in_class = Some((class, !one.is_static));
        let was_in_method = std::mem::replace(&mut self.in_method, true);
        let before = self.scopes.enter_method();
        let (list, conversions) = self.parameters(one.line, &method.parameters);
        let gives = method.class != "void" && !method.name.is_empty();
        let body = self.block(&method.body, gives);
        self.scopes.leave_method(before);
        self.in_method = was_in_method;
        let declared = self.type_name(one.line, &method.class);
        let inner = format!("(()=>{{{body}return null;}})()");
        let value = match declared.as_str() {
            "void" => inner,
            _ => self.converted(&declared, inner, ""),
        };
        let least = method.parameters.iter().filter(|p| p.otherwise.is_none());
        let itself = if one.is_static { "" } else { "self," };
        format!(
            "[{},{},{},{},({itself}{list})=>{{{conversions}return {value};}}]",
            quoted(&method.name),
            one.is_static,
            least.count(),
            method.parameters.len()
        )
    }

    /// A name within a class: a field, or a property by its method; `None`: the class has neither.
    pub(super) fn own_name(&mut self, name: &str) -> Option<Code> {
        let (class, has_self) = self.in_class?;
        let field = |one: &OwnClass| {
            let found = one.fields.iter().find(|(known, _)| known == name);
            found.map(|(_, is_static)| (one.name.clone(), *is_static))
        };
        if let Some((owner, is_static)) = self.line_of(class).find_map(field) {
            let text = match is_static {
                true => format!("$.constant({},{})", quoted(&owner), quoted(name)),
                false if has_self => format!("$.own(self,{})", quoted(name)),
                false => return None,
            };
            return Some(Code::new(text, ""));
        }
        let getter = super::expressions::getter(name, "get");
        (has_self && self.has_own_method(class, &getter, 0))
            .then(|| Code::new(format!("$.call(self,{},[])", quoted(&getter)), ""))
    }

    fn has_own_method(&self, class: usize, name: &str, count: usize) -> bool {
        self.line_of(class).any(|one| {
            let mut methods = one.methods.iter();
            methods.any(|m| m.name == name && (m.least..=m.most).contains(&count))
        })
    }

    /// The assignment of a field within a class; `None`: the class has none with this name.
    pub(super) fn assign_own(&mut self, line: u32, name: &str, text: &str) -> Option<String> {
        let (class, has_self) = self.in_class?;
        let is_field = |one: &OwnClass| one.fields.iter().any(|(known, _)| known == name);
        if !self.line_of(class).any(is_field) || !has_self {
            self.refuse(line, RefusalKind::Construct, format!("{name} ="));
            return Some("null".into());
        }
        Some(format!("$.setOwn(self,{},{text})", quoted(name)))
    }

    /// A call within a class of one of its methods, or of a closure in one of its fields; `None`: it has neither.
    pub(super) fn own_class_call(&mut self, name: &str, arguments: &[Expr]) -> Option<Code> {
        let (class, has_self) = self.in_class?;
        let count = arguments.len();
        let method = self.line_of(class).find_map(|one| {
            let mut methods = one.methods.iter();
            let fits = |m: &&OwnMethod| m.name == name && (m.least..=m.most).contains(&count);
            methods
                .find(fits)
                .map(|method| (one.name.clone(), method.is_static))
        });
        let list = self.list(arguments);
        let text = match method {
            Some((owner, true)) => {
                format!("$.ownStatic({},{},{list})", quoted(&owner), quoted(name))
            }
            Some((_, false)) if has_self => format!("$.call(self,{},{list})", quoted(name)),
            _ => format!("$.call({},\"call\",{list})", self.own_name(name)?.text),
        };
        Some(Code::new(text, ""))
    }

    /// `Name.method(…)` of a class of the script.
    pub(super) fn own_static_call(
        &mut self,
        line: u32,
        class: usize,
        (name, arguments): (&str, &[Expr]),
    ) -> Code {
        let count = arguments.len();
        let fits =
            |m: &OwnMethod| m.name == name && m.is_static && (m.least..=m.most).contains(&count);
        let owner = self
            .line_of(class)
            .find(|one| one.methods.iter().any(fits))
            .map(|one| one.name.clone());
        let list = self.list(arguments);
        match owner {
            Some(owner) => Code::new(
                format!(
                    "$.ownStatic({},{}{},{list})",
                    quoted(&owner),
                    mark(line),
                    quoted(name)
                ),
                "",
            ),
            None => {
                let what = format!("{}.{name}({count})", self.own[class].name);
                self.refuse(line, RefusalKind::Method, what);
                Code::new("null", "")
            }
        }
    }

    /// `Name.CONSTANT` of a class of the script.
    pub(super) fn own_constant(&mut self, line: u32, class: usize, name: &str) -> Code {
        let is_constant =
            |one: &&OwnClass| one.fields.iter().any(|(known, is)| known == name && *is);
        let owner = self
            .line_of(class)
            .find(is_constant)
            .map(|one| one.name.clone());
        match owner {
            Some(owner) => Code::new(
                format!("$.constant({},{})", quoted(&owner), quoted(name)),
                "",
            ),
            None => {
                let what = format!("{}.{name}", self.own[class].name);
                self.refuse(line, RefusalKind::Property, what);
                Code::new("null", "")
            }
        }
    }

    /// `new Name(…)` of a class of the script.
    pub(super) fn new_own(&mut self, line: u32, class: usize, arguments: &[Expr]) -> Code {
        let count = arguments.len();
        let made: Vec<&OwnMethod> = {
            let methods = self.own[class].methods.iter();
            methods.filter(|m| m.name.is_empty()).collect()
        };
        let is_named = matches!(arguments, [one] if matches!(one.kind, ExprKind::Map(_)));
        let fits = made.iter().any(|m| (m.least..=m.most).contains(&count));
        let is_plain = made.is_empty() && (count == 0 || is_named);
        let name = self.own[class].name.clone();
        let by_names = is_named && made.iter().any(|m| m.least == 0);
        if !(fits || is_plain || by_names) {
            self.refuse(line, RefusalKind::Method, format!("new {name}({count})"));
        }
        let list = self.list(arguments);
        Code::new(
            format!("$.newOwn({},{}{list})", quoted(&name), mark(line)),
            "",
        )
    }

    /// True if a class of the script has such a method, or a field with such an accessor.
    pub(super) fn any_own_has(&self, name: &str, count: usize) -> bool {
        let accessor = |field: &str| {
            let is_getter = count == 0
                && ["get", "is"]
                    .iter()
                    .any(|p| super::expressions::getter(field, p) == name);
            is_getter || count == 1 && super::expressions::getter(field, "set") == name
        };
        (0..self.own.len()).any(|class| {
            let fields = &self.own[class].fields;
            self.has_own_method(class, name, count)
                || fields.iter().any(|(field, _)| accessor(field))
        })
    }
}
