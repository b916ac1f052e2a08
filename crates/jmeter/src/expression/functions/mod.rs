//! The functions of expressions.
//!
//! One line per function in [`FUNCTIONS`], one file per family. A function reads its arguments
//! through a [`FunctionCall`] and appends its result; random numbers, clock and variables come from the
//! world.

use std::borrow::Cow;
use std::str::FromStr;

use sokudo_pace::Random;

use super::{Call, FaultEffect, FunctionFault, MOST_DEPTH, MOST_TEXT_BYTES, Template, World, time};
use crate::script::ScriptLanguage;

mod digest;
mod entities;
pub(crate) use digest::digest_of;
pub(crate) use entities::character_of;
mod files;
mod matches;
mod numbers;
mod plug_in;
mod scripts;
mod texts;
mod times;
mod variables;

pub(crate) use scripts::java_script_holds;
pub(crate) use texts::{html_escaped, html_unescaped, xml_escaped};

/// A function of expressions.
pub struct Function {
    /// Name with the underscores.
    pub name: &'static str,
    /// Priority in which it was implemented: 1, 2 or 3.
    pub tier: u8,
    /// Fewest arguments.
    pub least: usize,
    /// Most arguments.
    pub most: usize,
    /// Arguments as in a manual.
    pub takes: &'static str,
    /// Requirements of its execution.
    pub needs: Needs,
    /// Appends its result.
    pub(super) evaluate: fn(&mut FunctionCall<'_>) -> Result<(), FunctionFault>,
}

/// Requirements of a function's execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// A translation of its script, all of which is checked before the test.
    Translation(ScriptLanguage),
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

type Evaluate = fn(&mut FunctionCall<'_>) -> Result<(), FunctionFault>;

const fn function(
    name: &'static str,
    tier: u8,
    (least, most): (usize, usize),
    takes: &'static str,
    evaluate: Evaluate,
) -> Function {
    Function {
        name,
        tier,
        least,
        most,
        takes,
        needs: Needs::Nothing,
        evaluate,
    }
}

const fn script(name: &'static str, language: ScriptLanguage, evaluate: Evaluate) -> Function {
    Function {
        needs: Needs::Translation(language),
        ..function(name, 3, (1, 2), "(script, [variable])", evaluate)
    }
}

/// All functions, sorted by name.
pub static FUNCTIONS: &[Function] = &[
    script("__BeanShell", ScriptLanguage::BeanShell, scripts::beanshell),
    function(
        "__CSVRead",
        2,
        (2, 2),
        "(file, column | next)",
        files::csv_read,
    ),
    function(
        "__FileToString",
        3,
        (1, 3),
        "(file, [encoding], [variable])",
        files::file_to_string,
    ),
    function(
        "__MD5",
        3,
        (1, usize::MAX),
        "(text, [variable])",
        plug_in::md5,
    ),
    function("__P", 1, (1, 2), "(property, [default: 1])", variables::p),
    function(
        "__Random",
        1,
        (2, 3),
        "(least, most, [variable])",
        numbers::random,
    ),
    function(
        "__RandomDate",
        3,
        (3, 5),
        "(format, [start], end, [locale], [variable])",
        times::random_date,
    ),
    function(
        "__RandomFromMultipleVars",
        3,
        (1, 2),
        "(variable|variable…, [variable])",
        variables::random_from,
    ),
    function(
        "__RandomString",
        2,
        (1, 3),
        "(length, [characters], [variable])",
        numbers::random_string,
    ),
    function(
        "__StringFromFile",
        2,
        (1, 4),
        "(file, [variable], [start], [end])",
        files::string_from_file,
    ),
    function(
        "__StringToFile",
        3,
        (2, 4),
        "(file, text, [append: true], [encoding])",
        files::string_to_file,
    ),
    function("__TestPlanName", 3, (0, 0), "()", variables::plan_name),
    function("__UUID", 1, (0, 0), "()", numbers::uuid),
    function("__V", 2, (1, 2), "(variable, [default])", variables::v),
    function("__XPath", 3, (2, 2), "(file, path)", matches::xpath),
    function(
        "__base64Decode",
        3,
        (1, 2),
        "(text, [variable])",
        plug_in::base64_decode,
    ),
    function(
        "__base64Encode",
        3,
        (1, 2),
        "(text, [variable])",
        plug_in::base64_encode,
    ),
    function(
        "__caseFormat",
        3,
        (1, 3),
        "(text, [LOWER_CAMEL_CASE | UPPER_CAMEL_CASE | SNAKE_CASE | KEBAB_CASE | TRAIN_CASE | UPPER_UNDERSCORE], [variable])",
        plug_in::case_format,
    ),
    function(
        "__changeCase",
        3,
        (1, 3),
        "(text, [UPPER | LOWER | CAPITALIZE], [variable])",
        texts::change_case,
    ),
    function("__char", 3, (1, usize::MAX), "(code, …)", texts::char_codes),
    function(
        "__chooseRandom",
        3,
        (3, usize::MAX),
        "(value, …, variable)",
        plug_in::choose_random,
    ),
    function(
        "__counter",
        1,
        (1, 2),
        "(TRUE: per user | FALSE, [variable])",
        numbers::counter,
    ),
    function(
        "__dateTimeConvert",
        3,
        (3, 4),
        "(date, format, target format, [variable])",
        times::convert,
    ),
    function(
        "__digest",
        3,
        (2, 5),
        "(algorithm, text, [salt], [true: upper case], [variable])",
        digest::digest,
    ),
    function(
        "__doubleSum",
        3,
        (2, usize::MAX),
        "(number, number, …, [variable])",
        plug_in::double_sum,
    ),
    function(
        "__env",
        3,
        (1, 3),
        "(name, [variable], [default])",
        plug_in::env,
    ),
    function("__escapeHtml", 3, (1, 1), "(text)", texts::escape_html),
    function(
        "__escapeOroRegexpChars",
        3,
        (1, 2),
        "(text, [variable])",
        texts::escape_regex,
    ),
    function("__escapeXml", 3, (1, 1), "(text)", texts::escape_xml),
    function("__eval", 2, (1, 1), "(text)", variables::eval),
    function("__evalVar", 3, (1, 1), "(variable)", variables::eval_var),
    script("__groovy", ScriptLanguage::Groovy, scripts::groovy),
    function(
        "__if",
        3,
        (4, 5),
        "(actual, expected, value, other value, [variable])",
        plug_in::choose,
    ),
    function(
        "__intSum",
        2,
        (2, usize::MAX),
        "(number, number, …, [variable])",
        numbers::int_sum,
    ),
    function(
        "__isDefined",
        3,
        (1, usize::MAX),
        "(variable)",
        plug_in::is_defined,
    ),
    function(
        "__isPropDefined",
        3,
        (1, 1),
        "(property)",
        variables::is_property,
    ),
    function(
        "__isVarDefined",
        3,
        (1, 1),
        "(variable)",
        variables::is_variable,
    ),
    function(
        "__iterationNum",
        3,
        (0, usize::MAX),
        "()",
        plug_in::iteration,
    ),
    function(
        "__javaScript",
        3,
        (1, 2),
        "(script, [variable])",
        scripts::java_script,
    ),
    function(
        "__jexl2",
        3,
        (1, 2),
        "(expression, [variable])",
        scripts::jexl,
    ),
    function(
        "__jexl3",
        2,
        (1, 2),
        "(expression, [variable])",
        scripts::jexl,
    ),
    function(
        "__log",
        3,
        (1, 4),
        "(text, [level], [error], [comment])",
        scripts::log,
    ),
    function(
        "__logn",
        3,
        (1, 3),
        "(text, [level], [error])",
        scripts::log_silently,
    ),
    function(
        "__longSum",
        2,
        (2, usize::MAX),
        "(number, number, …, [variable])",
        numbers::long_sum,
    ),
    function(
        "__lowercase",
        3,
        (1, usize::MAX),
        "(text, [variable])",
        plug_in::lower_case,
    ),
    function(
        "__machineIP",
        2,
        (0, 1),
        "([variable])",
        variables::machine_ip,
    ),
    function(
        "__machineName",
        2,
        (0, 1),
        "([variable])",
        variables::machine_name,
    ),
    function(
        "__property",
        1,
        (1, 3),
        "(property, [variable], [default])",
        variables::property,
    ),
    function(
        "__regexFunction",
        3,
        (2, 7),
        "(pattern, template, [number | share | ALL | RAND], [between], [default], [variable], [input variable])",
        matches::regex,
    ),
    function(
        "__samplerName",
        3,
        (0, 1),
        "([variable])",
        variables::sampler_name,
    ),
    function(
        "__setProperty",
        2,
        (2, 3),
        "(property, value, [true: return the old value])",
        variables::set_property,
    ),
    function(
        "__split",
        3,
        (2, 3),
        "(text, variable, [separator])",
        texts::split,
    ),
    function(
        "__strLen",
        3,
        (1, usize::MAX),
        "(text, [variable])",
        plug_in::length,
    ),
    function(
        "__strReplace",
        3,
        (3, usize::MAX),
        "(text, part, other part, [variable])",
        plug_in::replace,
    ),
    function(
        "__substring",
        3,
        (3, usize::MAX),
        "(text, begin, end, [variable])",
        plug_in::substring,
    ),
    function("__threadGroupName", 3, (0, 0), "()", variables::group_name),
    function("__threadNum", 1, (0, 0), "()", variables::user_number),
    function("__time", 1, (0, 2), "([format], [variable])", times::time),
    function(
        "__timeShift",
        2,
        (4, 5),
        "(format, [date], shift, [locale], [variable])",
        times::time_shift,
    ),
    function("__unescape", 3, (1, 1), "(text)", texts::unescape),
    function("__unescapeHtml", 3, (1, 1), "(text)", texts::unescape_html),
    function(
        "__uppercase",
        3,
        (1, usize::MAX),
        "(text, [variable])",
        plug_in::upper_case,
    ),
    function("__urldecode", 2, (1, 1), "(text)", texts::url_decode),
    function("__urlencode", 2, (1, 1), "(text)", texts::url_encode),
];

/// The function of this name. Case sensitive.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The reason why constant arguments of a function cannot be used; `None`: they can.
pub(crate) fn flaw(function: &str, arguments: &[Template]) -> Option<String> {
    let constant = |index: usize| arguments.get(index).and_then(Template::constant);
    let english = |index: usize| {
        let locale = constant(index).unwrap_or_default().trim();
        let is_english = locale.is_empty() || locale.starts_with("en");
        (!is_english).then(|| format!("the locale `{locale}` is not supported"))
    };
    let pattern = |index: usize| time::flaw(constant(index)?.trim());
    // What a year of weeks means in a date that is read is known for `__timeShift` alone.
    let read_pattern = |index: usize| time::flaw_to_read(constant(index)?.trim());
    match function {
        "__digest" => digest::flaw(constant(0)?),
        "__time" => {
            const NAMES: &[&str] = &["YMD", "HMS", "YMDHMS", "USER1", "USER2"];
            let format = constant(0)?;
            let is_pattern = !format.starts_with('/') && !NAMES.contains(&format);
            is_pattern.then(|| pattern(0)).flatten()
        }
        "__timeShift" if arguments.len() == 5 => pattern(0).or_else(|| english(3)),
        "__timeShift" => pattern(0),
        "__RandomDate" => read_pattern(0).or_else(|| english(3)),
        "__dateTimeConvert" => read_pattern(1).or_else(|| pattern(2)),
        "__CSVRead" if constant(1)?.starts_with('*') => {
            Some("another name of a file is not supported".into())
        }
        _ => None,
    }
}

/// One call during its evaluation.
pub(super) struct FunctionCall<'a> {
    call: &'a Call,
    world: &'a mut dyn World,
    out: &'a mut String,
    depth: u32,
    /// The first function in an argument that failed.
    inner: Option<FunctionFault>,
}

impl<'a> FunctionCall<'a> {
    pub(super) fn new(
        call: &'a Call,
        world: &'a mut dyn World,
        out: &'a mut String,
        depth: u32,
    ) -> Self {
        Self {
            call,
            world,
            out,
            depth,
            inner: None,
        }
    }

    /// The first function in an argument that failed.
    pub(super) fn take_fault(&mut self) -> Option<FunctionFault> {
        self.inner.take()
    }

    pub(super) fn check_bounds(&self) -> Result<(), FunctionFault> {
        if self.depth >= MOST_DEPTH {
            return Err(self.end("the text evaluates itself"));
        }
        if self.out.len() > MOST_TEXT_BYTES {
            return Err(self.end("the text exceeds its maximal length"));
        }
        Ok(())
    }

    fn fault(&self, why: impl Into<String>) -> FunctionFault {
        FunctionFault {
            function: self.call.function.name,
            why: why.into(),
            effect: FaultEffect::Empty,
        }
    }

    fn end(&self, why: &str) -> FunctionFault {
        FunctionFault {
            effect: FaultEffect::Ends,
            ..self.fault(why)
        }
    }

    /// Notes a mistake that JMeter logs and goes on after.
    fn note(&mut self, why: String) {
        let fault = self.fault(why);
        self.inner.get_or_insert(fault);
    }

    /// A fault for which JMeter throws this exception.
    fn thrown(&self, class: &'static str, message: impl Into<String>) -> FunctionFault {
        let message = message.into();
        FunctionFault {
            effect: FaultEffect::Thrown(class, message.clone()),
            ..self.fault(message)
        }
    }

    fn len(&self) -> usize {
        self.call.arguments.len()
    }

    /// An argument; empty if it is missing.
    fn argument(&mut self, index: usize) -> Result<Cow<'a, str>, FunctionFault> {
        match self.call.arguments.get(index) {
            Some(argument) => {
                let (value, fault) = argument.value(self.world, self.depth + 1)?;
                if let (None, Some(fault)) = (&self.inner, fault) {
                    self.inner = Some(fault);
                }
                Ok(value)
            }
            None => Ok(Cow::Borrowed("")),
        }
    }

    /// An argument without surrounding blanks.
    fn word(&mut self, index: usize) -> Result<String, FunctionFault> {
        Ok(self.argument(index)?.trim().to_owned())
    }

    /// An argument without surrounding blanks as an integer.
    fn integer(&mut self, index: usize) -> Result<i64, FunctionFault> {
        let word = self.word(index)?;
        self.parsed(&word)
    }

    /// An argument as a number of this type; blanks around it are a mistake.
    fn strict<T: FromStr>(&mut self, index: usize) -> Result<T, FunctionFault> {
        let text = self.argument(index)?;
        self.parsed(&text)
    }

    fn parsed<T: FromStr>(&self, text: &str) -> Result<T, FunctionFault> {
        let wrong = || {
            let message = format!("For input string: \"{text}\"");
            self.thrown("java.lang.NumberFormatException", message)
        };
        text.parse().map_err(|_| wrong())
    }

    fn random(&mut self) -> &mut Random {
        self.world.random()
    }

    /// Appends the result, and sets the variable that an argument names.
    fn give(&mut self, variable: usize, result: &str) -> Result<(), FunctionFault> {
        let name = self.word(variable)?;
        if !name.is_empty() {
            self.world.set_variable(&name, result);
        }
        self.out.push_str(result);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_unlike() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
