//! `builder { name value }`: the closures of a `JsonBuilder`, in which each call without an object is an entry.
//!
//! ```text
//! builder { id 1; tags "a", "b"; place { x 2 } }     {"id": 1, "tags": ["a", "b"], "place": {"x": 2}}
//! builder.root { id 1 }                              {"root": {"id": 1}}
//! builder { all list, { item -> id item.id } }       {"all": [{"id": …}, …]}
//! ```
//!
//! As in Groovy, methods of the script and variables with closures are called all the same.

use super::delegate::OF_CLOSURES;
use super::{Code, Translator, mark, quoted};
use crate::RefusalKind;
use crate::ast::{Expr, ExprKind, Parameter, Statement};
use crate::library::{CLASSES, MemberKind};

impl Translator<'_> {
    /// A call of a builder, or of a name that it does not have, which is that of its only entry; `None`: the call is
    /// another one.
    pub(super) fn json_call(
        &mut self,
        owner: &Code,
        name: &str,
        arguments: &[Expr],
    ) -> Option<Code> {
        if owner.class != "JsonBuilder" || !self.is_groovy() {
            return None;
        }
        let value = self.described(arguments)?;
        let wanted = (name, arguments.len());
        let own = CLASSES.members(owner.class, MemberKind::Method, wanted, self.dialect);
        let text = match name {
            "call" => format!("$.call({},\"call\",[{value}])", owner.text),
            _ if own.is_empty() && !OF_CLOSURES.contains(&name) => {
                format!("$.jsonRoot({},{},{value})", owner.text, quoted(name))
            }
            _ => return None,
        };
        Some(Code::new(text, "Map"))
    }

    /// An entry of the object that the innermost closure describes; `None`: there is no such closure.
    pub(super) fn json_entry(&mut self, line: u32, name: &str, arguments: &[Expr]) -> Option<Code> {
        let object = self.json.last()?.clone();
        if OF_CLOSURES.contains(&name) {
            self.refuse(
                line,
                RefusalKind::Construct,
                format!("JsonBuilder {{ {name} }}"),
            );
            return Some(Code::new("null", ""));
        }
        let values = match self.described(arguments) {
            Some(value) => format!("[{value}]"),
            None => self.list(arguments),
        };
        let name = quoted(name);
        Some(Code::new(
            format!("$.jsonEntry({object},{}{name},{values})", mark(line)),
            "",
        ))
    }

    /// What `{ … }`, or `list, { item -> … }`, describes; `None`: the arguments are others.
    fn described(&mut self, arguments: &[Expr]) -> Option<String> {
        match arguments {
            [only] => match &only.kind {
                ExprKind::Closure { parameters, body } if parameters.is_none() => {
                    Some(self.described_object(None, body))
                }
                _ => None,
            },
            [items, each] => match &each.kind {
                ExprKind::Closure { parameters, body } => {
                    let parameters = parameters.as_deref().unwrap_or_default();
                    let items = self.value(items).text;
                    let each = self.described_object(Some(parameters), body);
                    Some(format!("$.jsonItems({items},{each})"))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The object of a closure, or, with parameters, a function that makes one of an item.
    fn described_object(&mut self, parameters: Option<&[Parameter]>, body: &[Statement]) -> String {
        let object = self.scopes.fresh();
        self.scopes.open();
        let item = match parameters {
            Some([one, ..]) => self.scopes.declare(&one.name, String::new(), ""),
            _ => self.scopes.declare("it", String::new(), ""),
        };
        self.json.push(object.clone());
        let body = self.block(body, false);
        self.json.pop();
        self.scopes.close();
        match parameters {
            Some(_) => format!("({item})=>$.jsonObject(({object})=>{{{body}}})"),
            None => format!("$.jsonObject(({object})=>{{let {item}=null;{body}}})"),
        }
    }
}
