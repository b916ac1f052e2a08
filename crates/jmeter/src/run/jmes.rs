//! JMESPath within bounds.
//!
//! The library recurses over the path and asks nobody how far it may go. So a path is measured before
//! it is parsed, what it costs is computed from its tree before it is evaluated, and both are refused
//! beyond the bounds: a path that lists its input twice, thirty times over, would fill any memory.

use jmespath::ast::Ast;
use jmespath::{DEFAULT_RUNTIME, Expression};
use serde_json::Value;

/// Longest path, bytes.
const MOST_BYTES: usize = 16 << 10;
/// Most operators and brackets: the library recurses over them.
const MOST_SIGNS: usize = 100;
/// Deepest nesting of brackets.
const MOST_DEPTH: usize = 64;
/// Longest number, digits: the library computes with 32 bits.
const MOST_DIGITS: usize = 9;
/// Most steps of one evaluation: the cost of the path times the size of the document.
const MOST_STEPS: u64 = 64_000_000;
/// Bytes of a document that count as one value.
const BYTES_PER_VALUE: u64 = 8;

/// The value at a JMESPath in a document that was read from so many bytes. Fails if the path is not
/// valid, too complex, or cannot be evaluated.
pub(super) fn search(path: &str, document: &Value, bytes: usize) -> Result<Value, String> {
    let (compiled, cost) = compiled(path).map_err(|why| format!("`{}`: {why}", shortened(path)))?;
    let size = (bytes as u64 / BYTES_PER_VALUE).max(1);
    if cost.steps.saturating_mul(size) > MOST_STEPS {
        return Err(format!(
            "`{path}` makes too much of a text of {bytes} bytes"
        ));
    }
    let found = compiled
        .search(document)
        .map_err(|why| format!("`{path}`: {}", why.reason))?;
    Ok(serde_json::to_value(&*found).unwrap_or_default())
}

/// Reason why a path cannot be evaluated on any document; `None`: it can.
pub(crate) fn jmes_flaw(path: &str) -> Option<String> {
    compiled(path).err()
}

fn compiled(path: &str) -> Result<(Expression<'static>, Cost), String> {
    measure(path)?;
    let compiled = jmespath::compile(path).map_err(|_| "it is not a valid JMESPath")?;
    let cost = cost(compiled.as_ast())?;
    Ok((compiled, cost))
}

fn shortened(path: &str) -> String {
    path.chars().take(100).collect()
}

/// Refuses a path that the library could not parse within its stack.
fn measure(path: &str) -> Result<(), String> {
    if path.len() > MOST_BYTES {
        return Err(format!("the path is longer than {} KiB", MOST_BYTES >> 10));
    }
    let (mut signs, mut depth, mut digits) = (0, 0_usize, 0);
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        match c {
            '\'' | '"' | '`' => {
                while let Some(inside) = chars.next() {
                    match inside {
                        '\\' => drop(chars.next()),
                        inside if inside == c => break,
                        _ => {}
                    }
                }
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                continue;
            }
            '.' | '|' | '&' | '!' | '<' | '>' | '=' => {}
            _ if digits > MOST_DIGITS => {
                return Err(format!("a number has more than {MOST_DIGITS} digits"));
            }
            _ => continue,
        }
        signs += 1;
        if signs > MOST_SIGNS {
            return Err(format!("there are more than {MOST_SIGNS} operators"));
        }
        if depth > MOST_DEPTH {
            return Err(format!("brackets are nested deeper than {MOST_DEPTH}"));
        }
    }
    Ok(())
}

/// Cost of an expression, relative to the value that it is applied to.
#[derive(Clone, Copy)]
struct Cost {
    /// Size of the result in sizes of the value, at most.
    size: u64,
    /// Values that are looked at, in the same unit.
    steps: u64,
}

impl Cost {
    const ONE: Self = Self { size: 1, steps: 1 };

    /// One after the other on the same value.
    fn beside(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            steps: self.steps.saturating_add(other.steps),
        }
    }

    /// The other on the result of this one.
    fn then(self, next: Self) -> Self {
        Self {
            size: self.size.saturating_mul(next.size),
            steps: self
                .steps
                .saturating_add(self.size.saturating_mul(next.steps)),
        }
    }
}

fn cost(ast: &Ast) -> Result<Cost, String> {
    let all = |parts: &mut dyn Iterator<Item = &Ast>| -> Result<Cost, String> {
        let mut sum = Cost { size: 0, steps: 1 };
        for part in parts {
            sum = sum.beside(cost(part)?);
        }
        Ok(sum)
    };
    Ok(match ast {
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => {
            Cost::ONE
        }
        Ast::Literal { value, .. } => {
            let size = value.to_string().len() as u64 / BYTES_PER_VALUE + 1;
            Cost { size, steps: size }
        }
        Ast::Subexpr { lhs, rhs, .. } | Ast::Projection { lhs, rhs, .. } => {
            cost(lhs)?.then(cost(rhs)?)
        }
        Ast::Not { node, .. } | Ast::Flatten { node, .. } | Ast::ObjectValues { node, .. } => {
            cost(node)?.then(Cost::ONE)
        }
        Ast::Expref { ast, .. } => cost(ast)?,
        Ast::Comparison { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Condition {
            predicate: lhs,
            then: rhs,
            ..
        } => cost(lhs)?.beside(cost(rhs)?),
        Ast::MultiList { elements, .. } => all(&mut elements.iter())?,
        Ast::MultiHash { elements, .. } => all(&mut elements.iter().map(|pair| &pair.value))?,
        Ast::Function { name, args, .. } => called(name, args)?,
    })
}

fn called(name: &str, args: &[Ast]) -> Result<Cost, String> {
    if DEFAULT_RUNTIME.get_function(name).is_none() {
        return Err(format!("the function `{name}` is not known"));
    }
    let mut sum = Cost { size: 1, steps: 1 };
    for arg in args {
        // An expression is carried out for each item of the list beside it; quoting a text again makes
        // it twice as long.
        sum = match arg {
            Ast::Expref { .. } => sum.then(cost(arg)?),
            arg => sum.beside(cost(arg)?),
        };
    }
    match (name, args.first()) {
        ("to_string", _) => Ok(sum.then(Cost { size: 2, steps: 2 })),
        ("join", Some(Ast::Literal { value, .. })) => {
            let size = value.to_string().len() as u64;
            Ok(sum.then(Cost { size, steps: size }))
        }
        // The text between the items could be as long as the document.
        ("join", _) => Err("`join` needs a literal between the items".into()),
        _ => Ok(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"items": [{"id": 7, "n": "a"}, {"id": 8, "n": "b"}], "at": {"x": 1}}"#;

    fn jmes(body: &str, path: &str) -> Result<Value, String> {
        search(path, &serde_json::from_str(body).expect("JSON"), body.len())
    }

    #[test]
    fn ordinary_paths_are_carried_out() {
        for (path, expected) in [
            ("items[?id==`8`].n | [0]", "\"b\""),
            ("join(', ', items[].n)", "\"a, b\""),
            ("sort_by(items, &n)[-1].id", "8"),
            ("items[*].{a: id, b: n, c: to_string(@)} | [1].b", "\"b\""),
            ("max_by(items, &id).n", "\"b\""),
            ("length(items) > `1` && at.x == `1`", "true"),
        ] {
            let found = jmes(BODY, path).map(|found| found.to_string());
            assert_eq!(found.as_deref(), Ok(expected), "{path}");
        }
    }

    #[test]
    fn deep_and_growing_paths_are_refused_before_they_run() {
        let nested =
            |open: &str, close: &str, n: usize| format!("{}@{}", open.repeat(n), close.repeat(n));
        let growing = |stage: &str, n: usize| vec![stage; n].join(" | ");
        for path in [
            nested("(", ")", 100_000),
            nested("[", "]", 100_000),
            nested("{a:", "}", 100_000),
            nested("abs(", ")", 100_000),
            "!".repeat(100_000) + "a",
            "&".repeat(100_000) + "a",
            vec!["a"; 100_000].join("."),
            vec!["a"; 100_000].join(" || "),
            "a".to_owned() + &"[]".repeat(100_000),
            growing("[@,@]", 40),
            growing("[@,@][]", 40),
            growing("{a:@,b:@}", 40),
            nested("to_string([", "])", 31),
            "join(items[0].n, items)".into(),
            "items[-2147483648]".into(),
            "items[0:2:2147483647]".into(),
        ] {
            assert!(jmes(BODY, &path).is_err(), "{}", shortened(&path));
        }
    }

    #[test]
    fn a_large_text_takes_what_a_path_of_its_size_needs() {
        let items = r#"{"id": 7, "n": "abcdefgh"},"#.repeat(100_000);
        let body = format!(r#"{{"items": [{}{{"id": 8, "n": "b"}}]}}"#, items);
        let found = jmes(&body, "items[?id==`8`].n");
        assert_eq!(found, Ok(serde_json::json!(["b"])));
    }

    #[test]
    fn paths_within_the_bounds_fit_into_the_stack() {
        let nested = format!("{}@{}", "(".repeat(MOST_DEPTH), ")".repeat(MOST_DEPTH));
        let long = vec!["a"; MOST_SIGNS].join(".");
        for path in [nested, long, "!".repeat(MOST_SIGNS) + "a"] {
            assert!(jmes(BODY, &path).is_ok(), "{path}");
        }
    }
}
