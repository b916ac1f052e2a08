//! Runs JavaScript with bounded memory, stack and time, and without access to the system.
//!
//! ```text
//! engine (bounded memory and stack, checks regularly whether it must end)
//!    │ throws
//!    ▼
//! Thrown: name, message, hint, and the place in the script's own lines
//! ```
//!
//! The caller decides what scripts can call, and which bounds they have. [`apart`] gives a script a thread
//! of its own, for bounds on what the engine does without checking.

pub mod apart;

use rquickjs::context::intrinsic;
use rquickjs::{CaughtError, Object, Runtime};

/// Everything of the language except clocks.
pub type Language = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Everything of the language, the calendar's clock included.
pub type LanguageWithDate = (intrinsic::Date, Language);

/// Limits of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Memory, bytes.
    pub memory_bytes: usize,
    /// Stack, bytes.
    pub stack_bytes: usize,
}

/// An engine within its bounds. It asks `must_end` after about ten thousand steps each, and ends the
/// script when the answer is `true`.
///
/// Errors: not enough memory.
pub fn engine(
    bounds: Bounds,
    must_end: impl FnMut() -> bool + 'static,
) -> rquickjs::Result<Runtime> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(bounds.memory_bytes);
    runtime.set_max_stack_size(bounds.stack_bytes);
    runtime.set_interrupt_handler(Some(Box::new(must_end)));
    Ok(runtime)
}

/// An error that ended a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thrown {
    /// Name of the error; empty for a value that is not an error.
    pub name: String,
    /// Its message.
    pub message: String,
    /// Its property `hint`.
    pub hint: Option<String>,
    /// Line of the innermost frame of the script's own, from 1; 0 when it is not known.
    pub line: u32,
    /// Column there, from 1; 0 when it is not known.
    pub column: u32,
}

impl Thrown {
    /// The error from the engine's text. `own_lines` precedes the line numbers of the script's own frames.
    pub fn of(error: &CaughtError<'_>, own_lines: &str) -> Self {
        match error {
            CaughtError::Exception(exception) => {
                let object: &Object<'_> = exception.as_object();
                let stack = exception.stack().unwrap_or_default();
                let (line, column) = innermost(&stack, own_lines);
                Self {
                    name: object.get("name").unwrap_or_default(),
                    message: exception.message().unwrap_or_default(),
                    hint: object.get::<_, Option<String>>("hint").ok().flatten(),
                    line,
                    column,
                }
            }
            CaughtError::Value(value) => {
                let text = value.as_string().and_then(|text| text.to_string().ok());
                let nothing = || "the script threw a value that is not an error".into();
                Self::saying(text.unwrap_or_else(nothing))
            }
            CaughtError::Error(error) => Self::saying(error.to_string()),
        }
    }

    fn saying(message: String) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }

    /// True when the script needed more memory than it may have.
    pub fn is_out_of_memory(&self) -> bool {
        self.message.contains("out of memory")
    }
}

/// Line and column of the innermost frame of a stack that is the script's own; 0 for none.
/// `own_lines` precedes the line numbers of such frames.
pub fn innermost(stack: &str, own_lines: &str) -> (u32, u32) {
    let Some((_, frame)) = stack.split_once(own_lines) else {
        return (0, 0);
    };
    let mut numbers = frame.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    (next(), next())
}

#[cfg(test)]
mod tests {
    use rquickjs::{CatchResultExt, Context};

    use super::*;

    const BOUNDS: Bounds = Bounds {
        memory_bytes: 4 << 20,
        stack_bytes: 256 << 10,
    };

    fn thrown(script: &str, must_end: impl FnMut() -> bool + 'static) -> Thrown {
        let engine = engine(BOUNDS, must_end).expect("an engine");
        let context = Context::custom::<Language>(&engine).expect("a context");
        context.with(|ctx| {
            let done: rquickjs::Result<()> = ctx.eval(script);
            Thrown::of(&done.catch(&ctx).expect_err(script), "eval_script:")
        })
    }

    #[test]
    fn an_error_tells_its_name_its_hint_and_its_place() {
        let script = "\n  throw Object.assign(new RangeError('far'), { hint: 'stay' })";
        let thrown = thrown(script, || false);
        assert_eq!(
            (thrown.name.as_str(), thrown.message.as_str()),
            ("RangeError", "far")
        );
        assert_eq!((thrown.hint.as_deref(), thrown.line), (Some("stay"), 2));
        assert!(thrown.column > 0);
    }

    #[test]
    fn what_is_no_error_is_told_all_the_same() {
        assert_eq!(thrown("throw 'so'", || false).message, "so");
        let nothing = thrown("throw 7", || false);
        assert_eq!((nothing.line, nothing.name.as_str()), (0, ""));
    }

    #[test]
    fn regular_expressions_ask_whether_they_must_end() {
        for script in [
            "/^(a+)+$/.test('a'.repeat(40) + 'b')",
            "/(x+x+)+y/.test('x'.repeat(5000))",
            "'a'.repeat(1e5).replace(/(a*)*b/g, '')",
        ] {
            let mut looks = 0;
            let ended = thrown(script, move || {
                looks += 1;
                looks > 100
            });
            assert_eq!(ended.message, "interrupted", "{script}");
        }
    }

    #[test]
    fn nothing_runs_away_and_there_is_no_clock() {
        let mut looks = 0;
        let endless = thrown("for (;;) {}", move || {
            looks += 1;
            looks > 3
        });
        assert!(!endless.is_out_of_memory());
        let full = thrown("const a = []; for (;;) a.push('x'.repeat(65536))", || false);
        assert!(full.is_out_of_memory(), "{full:?}");
        assert_eq!(thrown("new Date()", || false).name, "ReferenceError");
    }
}
