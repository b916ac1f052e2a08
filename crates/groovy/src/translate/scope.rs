//! Variables and where they can be seen.

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub name: String,
    /// Its name in JavaScript.
    pub text: String,
    /// Its declared type as the runtime knows it; empty: none.
    pub declared: String,
    /// The class of its value; empty: unknown.
    pub class: &'static str,
    /// True if its block declares it at the beginning, without a value.
    pub is_hoisted: bool,
    /// True for what a loop takes out of a collection, which is an object whatever its type.
    pub is_item: bool,
}

/// Open scopes, and the variables of the whole script.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    open: Vec<Vec<Variable>>,
    globals: Vec<(String, String)>,
    made: usize,
    /// Variables below this scope are not seen: a method sees none of the script's own.
    floor: usize,
}

impl Scopes {
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Opens the scope of a method. Gives what [`Scopes::leave_method`] takes.
    pub fn enter_method(&mut self) -> usize {
        let before = self.floor;
        self.floor = self.open.len();
        self.open();
        before
    }

    /// True within a method of the script.
    pub fn in_method(&self) -> bool {
        self.floor > 0
    }

    pub fn leave_method(&mut self, before: usize) {
        self.close();
        self.floor = before;
    }

    /// A new variable of the innermost scope; gives its name in JavaScript.
    pub fn declare(&mut self, name: &str, declared: String, class: &'static str) -> String {
        self.made += 1;
        let text = format!("v{}", self.made);
        if let Some(scope) = self.open.last_mut() {
            scope.push(Variable {
                name: name.into(),
                text: text.clone(),
                declared,
                class,
                is_hoisted: false,
                is_item: false,
            });
        }
        text
    }

    /// A new variable of the innermost scope for the items of a collection.
    pub fn declare_item(&mut self, name: &str, declared: String, class: &'static str) -> String {
        let text = self.declare(name, declared, class);
        if let Some(variable) = self.open.last_mut().and_then(|scope| scope.last_mut()) {
            variable.is_item = true;
        }
        text
    }

    /// A new variable of the innermost scope that its block declares at the beginning.
    pub fn hoist(&mut self, name: &str) -> String {
        let text = self.declare(name, String::new(), "");
        if let Some(variable) = self.open.last_mut().and_then(|scope| scope.last_mut()) {
            variable.is_hoisted = true;
        }
        text
    }

    /// Names in JavaScript of the variables that the innermost block declares at the beginning.
    pub fn hoisted(&self) -> impl Iterator<Item = &str> {
        let here = self.open.last().into_iter().flatten();
        here.filter(|variable| variable.is_hoisted)
            .map(|variable| variable.text.as_str())
    }

    /// True outside of all blocks and methods.
    pub fn is_outermost(&self) -> bool {
        self.open.len() == 1
    }

    /// A name in JavaScript that nothing else has.
    pub fn fresh(&mut self) -> String {
        self.made += 1;
        format!("t{}", self.made)
    }

    /// The variable with this name.
    pub fn find(&self, name: &str) -> Option<&Variable> {
        let seen = self.open.get(self.floor..).unwrap_or_default();
        seen.iter()
            .rev()
            .find_map(|scope| scope.iter().rev().find(|variable| variable.name == name))
    }

    /// The variable of the innermost scope with this name.
    pub fn find_here(&self, name: &str) -> Option<&Variable> {
        self.open
            .last()?
            .iter()
            .find(|variable| variable.name == name)
    }

    /// The JavaScript name of a variable of the whole script; `None`: nothing has assigned it.
    pub fn global(&self, name: &str) -> Option<&str> {
        self.globals
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_str())
    }

    /// The same, made when it is not there.
    pub fn make_global(&mut self, name: &str) -> String {
        if let Some(text) = self.global(name) {
            return text.to_owned();
        }
        self.made += 1;
        let text = format!("g{}", self.made);
        self.globals.push((name.into(), text.clone()));
        text
    }

    /// Variables of the whole script: name, and name in JavaScript.
    pub fn globals(&self) -> impl Iterator<Item = (&str, &str)> {
        self.globals
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }
}
