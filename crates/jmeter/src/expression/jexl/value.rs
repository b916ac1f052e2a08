//! Values of JEXL: those of Java.

use std::cell::RefCell;
use std::rc::Rc;

use super::map::HashTable;
use super::tree::Lambda;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Int(i32),
    Long(i64),
    /// A BigInteger.
    Big(i128),
    Float(f32),
    Double(f64),
    /// A unit of UTF-16.
    Char(u16),
    Text(Rc<str>),
    /// A regular expression.
    Pattern(Rc<str>),
    /// An array: equal to itself alone.
    Array(Rc<RefCell<Vec<Value>>>),
    /// A list.
    List(Rc<RefCell<Vec<Value>>>),
    Map(Rc<RefCell<HashTable>>),
    /// A set: the keys of a table.
    Set(Rc<RefCell<HashTable>>),
    /// Whole numbers from one to another.
    Range(i64, i64),
    /// A function, with the variables at its definition.
    Lambda(Rc<Lambda>),
    /// `java.util.Date`: milliseconds since 1970.
    Date(i64),
    /// `java.text.SimpleDateFormat` with its pattern.
    DateFormat(Rc<str>),
    /// `java.util.Random`.
    Random,
    /// `java.lang.StringBuilder`.
    Builder(Rc<RefCell<String>>),
    /// An object of JMeter.
    Host(Host),
}

/// Objects of JMeter that a script can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// `vars`.
    Variables,
    /// `props`.
    Properties,
    /// `ctx`.
    Context,
    /// `log`.
    Log,
    /// `OUT`.
    Out,
    /// `sampler`.
    Sampler,
    /// `ctx.thread`.
    Thread,
    /// `ctx.threadGroup`.
    Group,
}

impl Host {
    /// The object that a script knows by this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "vars" => Self::Variables,
            "props" => Self::Properties,
            "ctx" => Self::Context,
            "log" => Self::Log,
            "OUT" => Self::Out,
            "sampler" => Self::Sampler,
            _ => return None,
        })
    }
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// A list of these values.
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(Rc::new(RefCell::new(items)))
    }

    /// A whole number in the smallest of Integer, Long and BigInteger.
    pub fn whole(number: i128) -> Self {
        match (i32::try_from(number), i64::try_from(number)) {
            (Ok(small), _) => Self::Int(small),
            (_, Ok(long)) => Self::Long(long),
            _ => Self::Big(number),
        }
    }

    /// The number of an Integer, Long or Character.
    pub fn as_whole(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some((*number).into()),
            Self::Long(number) => Some(*number),
            Self::Char(unit) => Some((*unit).into()),
            _ => None,
        }
    }

    /// An array of these values.
    pub fn array(items: Vec<Value>) -> Self {
        Self::Array(Rc::new(RefCell::new(items)))
    }

    /// True for Float and Double.
    pub fn is_real(&self) -> bool {
        matches!(self, Self::Float(_) | Self::Double(_))
    }

    /// True for numbers of all types.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Long(_) | Self::Big(_)) || self.is_real()
    }

    /// Name of its Java class, for messages.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "Boolean",
            Self::Int(_) => "Integer",
            Self::Long(_) => "Long",
            Self::Big(_) => "BigInteger",
            Self::Float(_) => "Float",
            Self::Double(_) => "Double",
            Self::Char(_) => "Character",
            Self::Text(_) => "String",
            Self::Pattern(_) => "Pattern",
            Self::Array(_) => "array",
            Self::List(_) => "List",
            Self::Map(_) => "Map",
            Self::Set(_) => "Set",
            Self::Range(..) => "Range",
            Self::Lambda(_) => "Closure",
            Self::Date(_) => "Date",
            Self::DateFormat(_) => "SimpleDateFormat",
            Self::Random => "Random",
            Self::Builder(_) => "StringBuilder",
            Self::Host(Host::Variables) => "JMeterVariables",
            Self::Host(Host::Properties) => "Properties",
            Self::Host(Host::Context) => "JMeterContext",
            Self::Host(Host::Log) => "Logger",
            Self::Host(Host::Out) => "PrintStream",
            Self::Host(Host::Sampler) => "Sampler",
            Self::Host(Host::Thread) => "JMeterThread",
            Self::Host(Host::Group) => "ThreadGroup",
        }
    }

    /// True if both are the same object, or equal values of one class, as `equals` of Java.
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Flag(a), Self::Flag(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Long(a), Self::Long(b)) => a == b,
            (Self::Big(a), Self::Big(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::Char(a), Self::Char(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Date(a), Self::Date(b)) => a == b,
            (Self::Range(a, b), Self::Range(c, d)) => (a, b) == (c, d),
            (Self::Array(a), Self::Array(b)) => Rc::ptr_eq(a, b),
            (Self::List(a), Self::List(b)) => {
                Rc::ptr_eq(a, b) || {
                    let (a, b) = (a.borrow(), b.borrow());
                    a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
                }
            }
            (Self::Map(a), Self::Map(b)) | (Self::Set(a), Self::Set(b)) => {
                Rc::ptr_eq(a, b) || a.borrow().equals(&b.borrow())
            }
            (Self::Host(a), Self::Host(b)) => a == b,
            _ => false,
        }
    }

    /// `hashCode` of Java; 0 for objects that have none of their own.
    pub fn hash(&self) -> i32 {
        let of_long = |number: i64| (number ^ (number as u64 >> 32) as i64) as i32;
        match self {
            Self::Flag(true) => 1231,
            Self::Flag(false) => 1237,
            Self::Int(number) => *number,
            Self::Long(number) | Self::Date(number) => of_long(*number),
            Self::Float(number) => number.to_bits() as i32,
            Self::Double(number) => of_long(number.to_bits() as i64),
            Self::Char(unit) => (*unit).into(),
            Self::Text(text) => text.encode_utf16().fold(0_i32, |hash, unit| {
                hash.wrapping_mul(31).wrapping_add(unit.into())
            }),
            Self::List(items) => items.borrow().iter().fold(1_i32, |hash, item| {
                hash.wrapping_mul(31).wrapping_add(item.hash())
            }),
            _ => 0,
        }
    }

    /// The text that `toString` of Java gives. Fails for objects that show their address.
    pub fn shown(&self) -> Result<String, String> {
        let mut out = String::new();
        self.show(&mut out, 0)?;
        Ok(out)
    }

    fn show(&self, out: &mut String, depth: u32) -> Result<(), String> {
        const MOST_DEPTH: u32 = 30;
        use std::fmt::Write as _;
        // Writing into a String cannot fail.
        let _ = match self {
            Self::Null => write!(out, "null"),
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::Int(number) => write!(out, "{number}"),
            Self::Long(number) => write!(out, "{number}"),
            Self::Big(number) => write!(out, "{number}"),
            Self::Float(number) => return super::format::float(*number, out),
            Self::Double(number) => return super::format::double(*number, out),
            Self::Char(unit) => write!(out, "{}", String::from_utf16_lossy(&[*unit])),
            Self::Text(text) | Self::Pattern(text) => write!(out, "{text}"),
            Self::Builder(text) => write!(out, "{}", text.borrow()),
            Self::List(_) | Self::Map(_) | Self::Set(_) if depth > MOST_DEPTH => {
                return Err("a collection that holds itself has no text".into());
            }
            Self::List(items) => return show_list(items.borrow().iter(), out, depth),
            Self::Set(table) => return show_list(table.borrow().keys(), out, depth),
            Self::Map(table) => {
                out.push('{');
                for (index, (key, value)) in table.borrow().entries().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    key.show(out, depth + 1)?;
                    out.push('=');
                    value.show(out, depth + 1)?;
                }
                write!(out, "}}")
            }
            other => return Err(format!("the text of a {} is not supported", other.class())),
        };
        Ok(())
    }
}

fn show_list<'v>(
    items: impl Iterator<Item = &'v Value>,
    out: &mut String,
    depth: u32,
) -> Result<(), String> {
    out.push('[');
    for (index, item) in items.enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        item.show(out, depth + 1)?;
    }
    out.push(']');
    Ok(())
}
