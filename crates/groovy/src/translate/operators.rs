//! Operators, conversions and assignments.

use super::{Code, Translator, quoted};
use crate::RefusalKind;
use crate::ast::{Access, Expr, ExprKind, Member};

impl Translator<'_> {
    /// An expression as a condition.
    pub(super) fn truth(&mut self, of: &Expr) -> String {
        let code = self.value(of);
        match code.class {
            "Boolean" if self.is_surely_boolean(of) => code.text,
            _ => format!("$.t({})", code.text),
        }
    }

    /// True for operators whose value is never null.
    fn is_surely_boolean(&self, of: &Expr) -> bool {
        match &of.kind {
            ExprKind::Bool(_) | ExprKind::InstanceOf(..) => true,
            ExprKind::Unary(operator, _) => *operator == "!",
            ExprKind::Binary(operator, ..) => {
                matches!(
                    *operator,
                    "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" | "==~" | "in"
                )
            }
            _ => false,
        }
    }

    /// A value converted to a declared type, as an assignment does.
    pub(super) fn converted(&self, declared: &str, text: String, class: &str) -> String {
        let same = match declared {
            "" | "def" | "var" | "Object" | "void" => true,
            "String" => class == "String",
            _ => false,
        };
        match same {
            true => text,
            false => format!("$.assigned({},{text})", quoted(declared)),
        }
    }

    pub(super) fn binary(&mut self, line: u32, operator: &str, left: &Expr, right: &Expr) -> Code {
        if operator == "+" {
            return self.sum(left, right);
        }
        if matches!(operator, "&&" | "||") {
            let (a, b) = (self.truth(left), self.truth(right));
            return Code::new(format!("({a}{operator}{b})"), "Boolean");
        }
        if !self.is_groovy() && matches!(operator, "==~" | "=~" | "<=>" | "**" | "===" | "!==") {
            self.refuse(line, RefusalKind::Construct, operator);
        }
        let (a, b) = (self.value(left), self.value(right));
        if !self.is_groovy() && matches!(operator, "==" | "!=") {
            return self.java_equality(line, operator, (left, a), (right, b));
        }
        let (a, b) = (a.text, b.text);
        let compared = |sign: &str| Code::new(format!("($.cmp({a},{b}){sign}0)"), "Boolean");
        match operator {
            "==" => Code::new(format!("$.eq({a},{b})"), "Boolean"),
            "!=" => Code::new(format!("!$.eq({a},{b})"), "Boolean"),
            "<" | ">" | "<=" | ">=" => compared(operator),
            "<=>" => Code::new(format!("$.spaceship({a},{b})"), "Integer"),
            "===" | "!==" => {
                self.refuse(line, RefusalKind::Construct, operator);
                Code::new("null", "")
            }
            "in" => Code::new(format!("$.isCase({b},{a})"), "Boolean"),
            "=~" => Code::new(format!("$.find({a},{b})"), "Matcher"),
            "==~" => Code::new(format!("$.matches({a},{b})"), "Boolean"),
            _ => Code::new(format!("$.{}({a},{b})", function(operator)), ""),
        }
    }

    /// `==` of BeanShell: numbers by value, objects by identity.
    fn java_equality(
        &mut self,
        line: u32,
        operator: &str,
        (left, a): (&Expr, Code),
        (right, b): (&Expr, Code),
    ) -> Code {
        let is_text = |of: &Expr| matches!(of.kind, ExprKind::Text(_));
        let is_null = |of: &Expr| matches!(of.kind, ExprKind::Null);
        if (is_text(left) || is_text(right)) && !is_null(left) && !is_null(right) {
            self.refuse(line, RefusalKind::Construct, format!("{operator} \"…\""));
        }
        let is_value = |of: &Expr, code: &Code| {
            let primitive = ["Integer", "Long", "Double", "Float", "Character", "Boolean"];
            is_null(of) || primitive.contains(&code.class)
        };
        let function = match is_value(left, &a) || is_value(right, &b) {
            true => "eq",
            false => "identical",
        };
        let not = if operator == "==" { "" } else { "!" };
        Code::new(
            format!("{not}$.{function}({},{})", a.text, b.text),
            "Boolean",
        )
    }

    /// Additions in a row, without nesting.
    fn sum(&mut self, left: &Expr, right: &Expr) -> Code {
        let mut operands = vec![right];
        let mut at = left;
        while let ExprKind::Binary("+", a, b) = &at.kind {
            operands.push(b);
            at = a;
        }
        operands.push(at);
        operands.reverse();
        let mut class = "";
        let mut texts = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            let code = self.value(operand);
            // Whatever is added to a text is a text.
            if code.class == "String"
                && (index == 0 || !self.is_groovy() || index == 1)
                && (index == 0 || class.is_empty())
            {
                class = if index == 0 || !self.is_groovy() {
                    "String"
                } else {
                    class
                };
            }
            texts.push(code.text);
        }
        match texts.len() {
            2 => Code::new(format!("$.add({})", texts.join(",")), class),
            _ => Code::new(format!("$.sum([{}])", texts.join(",")), class),
        }
    }

    pub(super) fn unary(&mut self, line: u32, operator: &str, of: &Expr) -> Code {
        if let (ExprKind::Number(kind, digits), "-") = (&of.kind, operator) {
            return self.number(line, *kind, &format!("-{digits}"));
        }
        match operator {
            "!" => Code::new(format!("!{}", self.truth(of)), "Boolean"),
            "-" => Code::new(format!("$.negative({})", self.value(of).text), ""),
            "+" => Code::new(format!("$.positive({})", self.value(of).text), ""),
            _ => match (&of.kind, self.is_groovy()) {
                (ExprKind::Text(_) | ExprKind::GString(_), true) => {
                    let text = self.value(of).text;
                    Code::new(format!("$.pattern({text})"), "Pattern")
                }
                _ => Code::new(format!("$.inverted({})", self.value(of).text), ""),
            },
        }
    }

    /// `++` and `--`.
    pub(super) fn step(&mut self, line: u32, operator: &str, is_prefix: bool, of: &Expr) -> Code {
        let step = if operator == "++" {
            "$.next"
        } else {
            "$.previous"
        };
        let ExprKind::Name(name) = &of.kind else {
            let inner = match is_prefix {
                true => format!("v=>{step}(v)"),
                false => format!("$.before(v=>{step}(v))"),
            };
            return Code::new(self.updated(line, of, &inner), "");
        };
        let value = self.name(line, name);
        let next = format!("{step}({})", value.text);
        let assigned = self.assign_name(line, name, &next, "");
        match is_prefix {
            true => Code::new(format!("({assigned})"), ""),
            false => Code::new(format!("$.first({},{assigned})", value.text), value.class),
        }
    }

    pub(super) fn assign(&mut self, line: u32, to: &Expr, operator: &str, value: &Expr) -> Code {
        if let ExprKind::Name(name) = &to.kind {
            if operator.is_empty() {
                let target = self.target_type(to);
                let code = self.value_for(&target, value);
                return Code::new(
                    format!("({})", self.assign_name(line, name, &code.text, code.class)),
                    code.class,
                );
            }
            let before = self.name(line, name);
            let code = self.value(value);
            let sum = format!("$.{}({},{})", function(operator), before.text, code.text);
            return Code::new(format!("({})", self.assign_name(line, name, &sum, "")), "");
        }
        let target = match operator {
            "" => self.target_type(to),
            _ => String::new(),
        };
        let code = self.value_for(&target, value);
        let inner = match operator {
            "" => format!("()=>{}", code.text),
            operator => format!("v=>$.{}(v,{})", function(operator), code.text),
        };
        Code::new(self.updated(line, to, &inner), code.class)
    }

    /// A member or an item changed by a function of its value. A function without parameter does
    /// not read it.
    fn updated(&mut self, line: u32, to: &Expr, change: &str) -> String {
        match &to.kind {
            ExprKind::Property {
                of,
                name: Member::Fixed(name),
                access: Access::Plain,
            } => {
                let owner = self.value(of);
                if !owner.class.is_empty() {
                    self.check_setter(line, owner.class, name);
                }
                format!("$.setProperty({},{},{change})", owner.text, quoted(name))
            }
            ExprKind::Index { of, at } if at.len() == 1 => {
                let (owner, index) = (self.value(of).text, self.value(&at[0]).text);
                format!("$.setAt({owner},{index},{change})")
            }
            _ => {
                self.refuse(line, RefusalKind::Construct, "… =");
                "null".into()
            }
        }
    }

    /// The assignment of a variable, without brackets.
    pub(super) fn assign_name(
        &mut self,
        line: u32,
        name: &str,
        text: &str,
        class: &'static str,
    ) -> String {
        if let Some(variable) = self.scopes.find(name) {
            let (variable, declared) = (variable.text.clone(), variable.declared.clone());
            return format!(
                "{variable}={}",
                self.converted(&declared, text.into(), class)
            );
        }
        if let Some(assignment) = self.assign_own(line, name, text) {
            return assignment;
        }
        self.refuse_delegated(line, name);
        let is_new = self.scopes.global(name).is_none();
        if !self.is_groovy() && is_new && !self.scopes.is_outermost() {
            let of_element = self.bindings.iter().any(|binding| binding.name == name);
            if self.in_method && self.assigned_outside.contains(name) {
                // Whose variable it is depends on what is called first.
                self.refuse(line, RefusalKind::Construct, format!("{name} ="));
            } else if !of_element {
                // A new variable of BeanShell belongs to its block.
                let variable = self.scopes.hoist(name);
                return format!("{variable}={text}");
            }
        }
        let variable = self.scopes.make_global(name);
        match self.fields.get(name) {
            Some(declared) => format!(
                "{variable}={}",
                self.converted(declared, text.into(), class)
            ),
            None => format!("{variable}={text}"),
        }
    }
}

/// The function of the runtime for an operator.
fn function(operator: &str) -> &'static str {
    match operator {
        "+" => "add",
        "-" => "subtract",
        "*" => "multiply",
        "/" => "divide",
        "%" => "remainder",
        "**" => "power",
        "<<" => "shiftLeft",
        ">>" => "shiftRight",
        ">>>" => "shiftUnsigned",
        "&" => "and",
        "|" => "or",
        _ => "xor",
    }
}
