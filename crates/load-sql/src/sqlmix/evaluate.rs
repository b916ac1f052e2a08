//! Values of expressions, by pgbench's rules: whole numbers have 64 bits and do not wrap, an operation with a
//! floating-point number is one of floating-point numbers, and nothing comes of no value.

use sokudo_pace::Random;

use super::draw::Distribution;
use super::expression::{Function, Node};
use super::scalar::{Fault, Scalar};

/// The value of an expression.
///
/// Errors: a division by zero, a number without room, a value of the wrong type.
pub(super) fn value(
    node: &Node,
    variables: &[Scalar],
    random: &mut Random,
) -> Result<Scalar, Fault> {
    let (function, arguments) = match node {
        Node::Constant(value) => return Ok(value.clone()),
        Node::Variable(variable) => return variables[variable.index()].read(),
        Node::Call(function, arguments) => (*function, arguments.as_slice()),
    };
    match function {
        Function::And | Function::Or => logical(function, arguments, variables, random),
        Function::Case => case(arguments, variables, random),
        Function::Greatest | Function::Least => extreme(function, arguments, variables, random),
        _ => {
            let mut values = [Scalar::Null, Scalar::Null, Scalar::Null];
            for (room, argument) in values.iter_mut().zip(arguments) {
                *room = value(argument, variables, random)?;
            }
            let values = &values[..arguments.len().min(3)];
            let nothing = values.contains(&Scalar::Null);
            match function {
                Function::Is => Ok(Scalar::Bool(values[0] == values[1])),
                Function::Debug => Ok(values[0].clone()),
                _ if nothing => Ok(Scalar::Null),
                _ => applied(function, values, random),
            }
        }
    }
}

/// AND and OR look at the second value only when the first one does not decide.
fn logical(
    function: Function,
    arguments: &[Node],
    variables: &[Scalar],
    random: &mut Random,
) -> Result<Scalar, Fault> {
    let decides = function == Function::Or;
    let mut truth = |node: &Node| value(node, variables, random)?.truth();
    let left = truth(&arguments[0])?;
    if left == Some(decides) {
        return Ok(Scalar::Bool(decides));
    }
    let right = truth(&arguments[1])?;
    Ok(match (left, right) {
        (_, Some(right)) if right == decides => Scalar::Bool(decides),
        (Some(_), Some(_)) => Scalar::Bool(!decides),
        _ => Scalar::Null,
    })
}

fn case(arguments: &[Node], variables: &[Scalar], random: &mut Random) -> Result<Scalar, Fault> {
    let (branches, otherwise) = arguments.as_chunks::<2>();
    for [condition, then] in branches {
        if value(condition, variables, random)?.holds()? {
            return value(then, variables, random);
        }
    }
    otherwise
        .first()
        .map_or(Ok(Scalar::Null), |node| value(node, variables, random))
}

fn extreme(
    function: Function,
    arguments: &[Node],
    variables: &[Scalar],
    random: &mut Random,
) -> Result<Scalar, Fault> {
    let mut found: Option<Scalar> = None;
    for argument in arguments {
        let next = value(argument, variables, random)?;
        let Some(best) = found else {
            // The type is checked also where there is nothing to compare with.
            if next != Scalar::Null {
                next.double()?;
            }
            found = Some(next);
            continue;
        };
        found = Some(match (best, next) {
            (Scalar::Null, _) | (_, Scalar::Null) => Scalar::Null,
            (Scalar::Int(a), Scalar::Int(b)) if function == Function::Least => {
                Scalar::Int(a.min(b))
            }
            (Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a.max(b)),
            (a, b) if function == Function::Least => Scalar::Double(a.double()?.min(b.double()?)),
            (a, b) => Scalar::Double(a.double()?.max(b.double()?)),
        });
    }
    Ok(found.unwrap_or(Scalar::Null))
}

fn applied(function: Function, of: &[Scalar], random: &mut Random) -> Result<Scalar, Fault> {
    match function {
        Function::Add | Function::Subtract | Function::Multiply | Function::Divide => {
            arithmetic(function, &of[0], &of[1])
        }
        Function::Modulo => remainder(of[0].int()?, of[1].int()?).map(Scalar::Int),
        Function::Less | Function::LessOrEqual | Function::Equal | Function::NotEqual => {
            compared(function, &of[0], &of[1]).map(Scalar::Bool)
        }
        Function::Not => Ok(of[0].truth()?.map_or(Scalar::Null, |it| Scalar::Bool(!it))),
        Function::BitOr => Ok(Scalar::Int(of[0].int()? | of[1].int()?)),
        Function::BitXor => Ok(Scalar::Int(of[0].int()? ^ of[1].int()?)),
        Function::BitAnd => Ok(Scalar::Int(of[0].int()? & of[1].int()?)),
        Function::ShiftLeft => Ok(Scalar::Int(of[0].int()?.wrapping_shl(of[1].int()? as u32))),
        Function::ShiftRight => Ok(Scalar::Int(of[0].int()?.wrapping_shr(of[1].int()? as u32))),
        Function::HashFnv1a => Ok(Scalar::Int(fnv1a(of[0].int()?, of[1].int()?))),
        Function::HashMurmur2 => Ok(Scalar::Int(murmur2(of[0].int()?, of[1].int()?))),
        Function::Random
        | Function::RandomExponential
        | Function::RandomGaussian
        | Function::RandomZipfian => drawn(function, of, random).map(Scalar::Int),
        Function::Int => Ok(Scalar::Int(of[0].int()?)),
        Function::Abs => match of[0] {
            Scalar::Int(value) => value.checked_abs().map(Scalar::Int).ok_or(Fault::Range),
            _ => Ok(Scalar::Double(of[0].double()?.abs())),
        },
        _ => floating(function, of).map(Scalar::Double),
    }
}

fn arithmetic(function: Function, a: &Scalar, b: &Scalar) -> Result<Scalar, Fault> {
    if let (Scalar::Int(a), Scalar::Int(b)) = (a, b) {
        let whole = match function {
            Function::Add => a.checked_add(*b),
            Function::Subtract => a.checked_sub(*b),
            Function::Multiply => a.checked_mul(*b),
            _ if *b == 0 => return Err(Fault::Division),
            _ => a.checked_div(*b),
        };
        return whole.map(Scalar::Int).ok_or(Fault::Range);
    }
    let (a, b) = (a.double()?, b.double()?);
    Ok(Scalar::Double(match function {
        Function::Add => a + b,
        Function::Subtract => a - b,
        Function::Multiply => a * b,
        _ => a / b,
    }))
}

fn remainder(a: i64, b: i64) -> Result<i64, Fault> {
    match b {
        0 => Err(Fault::Division),
        _ => Ok(a.checked_rem(b).unwrap_or(0)),
    }
}

fn compared(function: Function, a: &Scalar, b: &Scalar) -> Result<bool, Fault> {
    let order = match (a, b) {
        (Scalar::Double(_), _) | (_, Scalar::Double(_)) => a.double()?.partial_cmp(&b.double()?),
        _ => Some(a.int()?.cmp(&b.int()?)),
    };
    Ok(match function {
        Function::Less => order.is_some_and(|order| order.is_lt()),
        Function::LessOrEqual => order.is_some_and(|order| order.is_le()),
        Function::Equal => order.is_some_and(|order| order.is_eq()),
        _ => !order.is_some_and(|order| order.is_eq()),
    })
}

fn floating(function: Function, of: &[Scalar]) -> Result<f64, Fault> {
    if function == Function::Pi {
        return Ok(std::f64::consts::PI);
    }
    let first = of[0].double()?;
    Ok(match function {
        Function::Sqrt => first.sqrt(),
        Function::Ln => first.ln(),
        Function::Exp => first.exp(),
        Function::Power => first.powf(of[1].double()?),
        _ => first,
    })
}

fn drawn(function: Function, of: &[Scalar], random: &mut Random) -> Result<i64, Fault> {
    let parameter = of.get(2).map_or(Ok(0.0), Scalar::double)?;
    let distribution = match function {
        Function::RandomExponential => Distribution::Exponential(parameter),
        Function::RandomGaussian => Distribution::Gaussian(parameter),
        Function::RandomZipfian => Distribution::Zipfian(parameter),
        _ => Distribution::Uniform,
    };
    distribution.draw(random, of[0].int()?, of[1].int()?)
}

/// FNV-1a over the eight bytes of a number, lowest first.
fn fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    let bytes = value.to_le_bytes().into_iter();
    bytes.fold(BASIS ^ seed as u64, mixed) as i64
}

/// MurmurHash2, 64 bits, of the eight bytes of a number.
fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mix = |value: u64| (value ^ (value >> SHIFT)).wrapping_mul(MULTIPLIER);
    let block = mix((value as u64).wrapping_mul(MULTIPLIER));
    let hash = (seed as u64) ^ MULTIPLIER.wrapping_mul(8) ^ block;
    let hash = mix(hash.wrapping_mul(MULTIPLIER));
    (hash ^ (hash >> SHIFT)) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::expression::parse;
    use super::super::program::Names;
    use super::*;

    fn of(text: &str) -> Result<Scalar, String> {
        let mut names = Names::default();
        let node = parse(text, 1, &mut names).map_err(|wrong| wrong.says.key)?;
        let mut variables = vec![Scalar::Int(7); names.len()];
        if let Some(seed) = names.find("default_seed") {
            variables[seed.index()] = Scalar::Int(5432);
        }
        value(&node, &variables, &mut Random::new(1, 1)).map_err(|fault| fault.to_string())
    }

    /// Values by the manual of pgbench, and by its grammar.
    #[test]
    fn expressions_have_the_values_of_the_manual() {
        for (text, expected) in [
            ("5 / 3", Scalar::Int(1)),
            ("5 / 3.0", Scalar::Double(5.0 / 3.0)),
            ("-7 / 2", Scalar::Int(-3)),
            ("3 % 2", Scalar::Int(1)),
            ("2 + 3 * 4 - 5", Scalar::Int(9)),
            ("(2 + 3) * 4", Scalar::Int(20)),
            ("- 2.0", Scalar::Double(-2.0)),
            ("2 * -3", Scalar::Int(-6)),
            ("1 | 2", Scalar::Int(3)),
            ("1 # 3", Scalar::Int(2)),
            ("1 & 3", Scalar::Int(1)),
            ("~ 1", Scalar::Int(-2)),
            ("~ 1 + 1", Scalar::Int(-3)),
            ("1 << 2", Scalar::Int(4)),
            ("8 >> 2", Scalar::Int(2)),
            ("1 + 2 << 2", Scalar::Int(12)),
            ("5 >= 4", Scalar::Bool(true)),
            ("5 <> 5", Scalar::Bool(false)),
            ("5 != 4.0", Scalar::Bool(true)),
            ("3 > 4 or 5 = 5", Scalar::Bool(true)),
            ("true and not false", Scalar::Bool(true)),
            ("not 1 > 2", Scalar::Bool(true)),
            ("null or true", Scalar::Bool(true)),
            ("null and true", Scalar::Null),
            ("1 is null", Scalar::Bool(false)),
            ("null isnull", Scalar::Bool(true)),
            ("1 notnull", Scalar::Bool(true)),
            ("5 > 4 is not true", Scalar::Bool(false)),
            ("null + 1", Scalar::Null),
            ("CASE WHEN 2 > 3 THEN 1 ELSE 8 END", Scalar::Int(8)),
            ("case when false then 1 end", Scalar::Null),
            ("abs(-17)", Scalar::Int(17)),
            ("double(5432)", Scalar::Double(5432.0)),
            ("int(5.4 + 3.8)", Scalar::Int(9)),
            ("greatest(5, 4, 3, 2)", Scalar::Int(5)),
            ("least(5, 4, 3, 2.1)", Scalar::Double(2.1)),
            ("ln(exp(1.0))", Scalar::Double(1.0)),
            ("mod(54, 32)", Scalar::Int(22)),
            ("pi()", Scalar::Double(std::f64::consts::PI)),
            ("pow(2.0, 10)", Scalar::Double(1024.0)),
            ("sqrt(4)", Scalar::Double(2.0)),
            ("hash(10)", Scalar::Int(-5_817_877_081_768_721_676)),
            (
                "hash_murmur2(10, 5432)",
                Scalar::Int(-5_817_877_081_768_721_676),
            ),
            (
                "hash_fnv1a(10, 5432)",
                Scalar::Int(-7_793_829_335_365_542_153),
            ),
            ("-9223372036854775808", Scalar::Int(i64::MIN)),
            ("-9223372036854775808 % -1", Scalar::Int(0)),
            (":x * 2", Scalar::Int(14)),
            ("random(4, 4)", Scalar::Int(4)),
            ("1.5e1", Scalar::Double(15.0)),
            (".5", Scalar::Double(0.5)),
        ] {
            assert_eq!(of(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        for (text, why) in [
            ("1 / 0", "division by zero"),
            ("1 % 0", "division by zero"),
            ("9223372036854775807 + 1", "bigint out of range"),
            ("-9223372036854775808 / -1", "bigint out of range"),
            ("int(1e19)", "bigint out of range"),
            ("true + 1", "a value of the wrong type"),
            ("1 and true", "a value of the wrong type"),
            (
                "random(2, 1)",
                "the bounds or the parameter of a random distribution are wrong",
            ),
            (
                "random_gaussian(1, 2, 1.0)",
                "the bounds or the parameter of a random distribution are wrong",
            ),
            ("9223372036854775808", "error-sqlmix-expression"),
            ("1 < 2 < 3", "error-sqlmix-expression"),
            ("1 +", "error-sqlmix-expression-end"),
            ("(1", "error-sqlmix-expression-end"),
            ("1 2", "error-sqlmix-expression"),
            (":", "error-sqlmix-expression"),
            ("permute(1, 2)", "error-sqlmix-function"),
            ("random(1)", "error-sqlmix-arguments"),
            ("pi(1)", "error-sqlmix-arguments"),
            ("x", "error-sqlmix-function"),
        ] {
            assert_eq!(of(text), Err(why.into()), "{text}");
        }
        let deep = "(".repeat(1_000_000);
        assert_eq!(of(&deep), Err("error-sqlmix-expression-deep".into()));
    }

    proptest! {
        /// Any text is refused or has a value, and nothing panics.
        #[test]
        fn any_text_is_refused_or_computed(text in "(:?[a-z]{1,6}|[0-9.e]{1,20}|[-+*/%<>=|&#~(),! ]{1,3}){0,12}") {
            let _ = of(&text);
        }

        #[test]
        fn sums_and_products_are_those_of_whole_numbers(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000, c in 1_i64..1_000) {
            let text = format!("({a}) * ({b}) + ({a}) / {c} - ({b}) % {c}");
            prop_assert_eq!(of(&text), Ok(Scalar::Int(a * b + a / c - b % c)));
        }
    }
}
