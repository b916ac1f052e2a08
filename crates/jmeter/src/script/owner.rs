//! Languages of scripts, and the kinds of elements that have them.

use serde::Serialize;
use serde_json::Value as Json;
use sokudo_groovy::{Binding, Dialect, NamedFile, Refusal, RefusalKind};

use super::ScriptSample;

/// Language of a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptLanguage {
    /// JavaScript.
    #[default]
    JavaScript,
    /// Groovy.
    Groovy,
    /// BeanShell.
    #[serde(rename = "beanshell")]
    BeanShell,
}

impl ScriptLanguage {
    /// The language that a plan names; `None`: it is not supported.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        Some(match name.as_str() {
            "javascript" | "js" | "ecmascript" | "nashorn" | "graal.js" | "rhino" => {
                Self::JavaScript
            }
            // JMeter's default language.
            "" | "groovy" => Self::Groovy,
            // BeanShell's engine answers to all three.
            "beanshell" | "bsh" | "java" => Self::BeanShell,
            _ => return None,
        })
    }

    /// True for JavaScript.
    pub fn is_java_script(&self) -> bool {
        *self == Self::JavaScript
    }

    /// Dialect of its translation; `None`: it is not translated.
    pub(super) fn dialect(self) -> Option<Dialect> {
        match self {
            Self::JavaScript => None,
            Self::Groovy => Some(Dialect::Groovy),
            Self::BeanShell => Some(Dialect::BeanShell),
        }
    }

    /// Its name in the runtime.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::BeanShell => "beanshell",
            _ => "groovy",
        }
    }
}

/// The kind of element that a script belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ScriptOwner {
    /// A function such as `__groovy`.
    #[default]
    Function,
    /// A sampler.
    Sampler,
    /// A preprocessor.
    PreProcessor,
    /// A postprocessor.
    PostProcessor,
    /// An assertion.
    Assertion,
    /// A timer.
    Timer,
    /// A listener.
    Listener,
}

const fn binding(name: &'static str, class: &'static str) -> Binding {
    Binding { name, class }
}

/// Names that every script can use.
const COMMON: &[Binding] = &[
    binding("vars", "JMeterVariables"),
    binding("props", "Properties"),
    binding("ctx", "JMeterContext"),
    binding("log", "Logger"),
];
/// Further names that every script of an element can use.
const OF_ELEMENT: &[Binding] = &[
    binding("Label", "String"),
    binding("FileName", "String"),
    binding("Parameters", "String"),
    binding("args", "Array"),
    binding("OUT", "PrintStream"),
    binding("sampler", "HTTPSamplerProxy"),
];
const OF_BEANSHELL: &[Binding] = &[
    binding("Label", "String"),
    binding("Parameters", "String"),
    binding("FileName", "String"),
    binding("bsh", "BeanShell"),
];
const PREVIOUS: Binding = binding("prev", "SampleResult");
const RESULT: Binding = binding("SampleResult", "SampleResult");

impl ScriptOwner {
    /// The variables that JMeter sets before a script of this kind of element begins.
    pub fn bindings(self, language: ScriptLanguage) -> Vec<Binding> {
        let mut all = COMMON.to_vec();
        let more: &[Binding] = match (language, self) {
            (_, Self::Function) => &[],
            (ScriptLanguage::BeanShell, _) => OF_BEANSHELL,
            (..) => OF_ELEMENT,
        };
        all.extend(more);
        let own: &[Binding] = match (language, self) {
            (ScriptLanguage::Groovy, Self::Function) => &[
                PREVIOUS,
                binding("threadName", "String"),
                binding("sampler", "HTTPSamplerProxy"),
            ],
            (_, Self::Function) => &[
                binding("threadName", "String"),
                binding("sampler", "HTTPSamplerProxy"),
            ],
            (ScriptLanguage::BeanShell, Self::Sampler) => &[
                PREVIOUS,
                RESULT,
                binding("ResponseCode", ""),
                binding("ResponseMessage", ""),
                binding("IsSuccess", ""),
            ],
            (ScriptLanguage::BeanShell, Self::PreProcessor) => {
                &[PREVIOUS, binding("sampler", "HTTPSamplerProxy")]
            }
            (ScriptLanguage::BeanShell, Self::PostProcessor) => {
                &[PREVIOUS, binding("data", "Array")]
            }
            (ScriptLanguage::BeanShell, Self::Assertion) => &[
                PREVIOUS,
                RESULT,
                binding("Failure", ""),
                binding("FailureMessage", ""),
                binding("ResponseData", "Array"),
                binding("ResponseCode", "String"),
                binding("ResponseMessage", "String"),
                binding("ResponseHeaders", "String"),
                binding("RequestHeaders", "String"),
                binding("SampleLabel", "String"),
                binding("SamplerData", "String"),
            ],
            (ScriptLanguage::BeanShell, Self::Timer) => &[PREVIOUS],
            (_, Self::Sampler) => &[PREVIOUS, RESULT],
            (_, Self::PostProcessor) => &[PREVIOUS],
            (_, Self::Assertion) => &[
                PREVIOUS,
                RESULT,
                binding("AssertionResult", "AssertionResult"),
            ],
            (_, Self::Listener) => &[
                PREVIOUS,
                binding("sampleResult", "SampleResult"),
                binding("sampleEvent", "SampleEvent"),
            ],
            (_, Self::PreProcessor | Self::Timer) => &[PREVIOUS],
        };
        all.extend(own);
        all
    }

    /// Variables of BeanShell that tell of a sample.
    pub(super) fn beanshell_values(self, seen: &ScriptSample) -> Vec<(&'static str, Json)> {
        match self {
            Self::Sampler => vec![
                ("ResponseCode", "200".into()),
                ("ResponseMessage", "OK".into()),
                ("IsSuccess", true.into()),
            ],
            Self::PostProcessor => vec![("data", seen.text.clone().into())],
            Self::Assertion => vec![
                ("Failure", false.into()),
                ("FailureMessage", "".into()),
                ("ResponseData", seen.text.clone().into()),
                ("ResponseCode", seen.code.clone().into()),
                ("ResponseMessage", seen.message.clone().into()),
                ("ResponseHeaders", seen.headers.clone().into()),
                ("RequestHeaders", seen.request_headers.clone().into()),
                ("SampleLabel", seen.label.clone().into()),
                ("SamplerData", seen.sampler_data.clone().into()),
            ],
            _ => Vec::new(),
        }
    }

    /// True if a pause of the script can be carried out: the user pauses where the script ended.
    pub(super) fn can_sleep(self) -> bool {
        self != Self::Function
    }

    /// True for elements that act on the result of a sampler.
    pub fn is_behind(self) -> bool {
        matches!(self, Self::PostProcessor | Self::Assertion | Self::Listener)
    }

    /// Parts of a script that cannot be executed; empty: all of it can.
    pub fn refusals(self, language: ScriptLanguage, text: &str) -> Vec<Refusal> {
        match language.dialect() {
            None => Vec::new(),
            Some(dialect) => {
                match sokudo_groovy::translate(text, dialect, &self.bindings(language)) {
                    Ok(script) => {
                        let doubts = match self {
                            Self::Function => self.doubts(language, text),
                            _ => Vec::new(),
                        };
                        self.sleep_in(&script).into_iter().chain(doubts).collect()
                    }
                    Err(refusals) => refusals,
                }
            }
        }
    }

    /// Names and methods that are missing: a script fails where it uses them, as in JMeter.
    pub fn doubts(self, language: ScriptLanguage, text: &str) -> Vec<Refusal> {
        let bindings = self.bindings(language);
        let dialect = language.dialect();
        dialect.map_or_else(Vec::new, |dialect| {
            sokudo_groovy::doubts(text, dialect, &bindings)
        })
    }

    /// The files that a script names.
    pub fn files(language: ScriptLanguage, text: &str) -> Vec<NamedFile> {
        let dialect = language.dialect();
        dialect.map_or_else(Vec::new, |dialect| {
            sokudo_groovy::named_files(text, dialect)
        })
    }

    /// A pause in a translated script whose user cannot pause there.
    fn sleep_in(self, script: &str) -> Option<Refusal> {
        const CALL: &str = "$.static(\"Thread\",";
        let calls = script.match_indices(CALL).map(|(at, _)| at);
        let mut sleeps = calls.filter(|at| {
            script[at + CALL.len()..]
                .trim_start()
                .starts_with("\"sleep\",")
        });
        let at = sleeps.next().filter(|_| !self.can_sleep())?;
        Some(Refusal {
            line: 1 + script[..at].matches('\n').count() as u32,
            kind: RefusalKind::Construct,
            what: "Thread.sleep".into(),
        })
    }
}
