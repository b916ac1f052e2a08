//! Checks of options that another host wrote.
//!
//! What is typed is held to the ranges of the command line and then validated. In a plan options come as
//! JSON, from a host that may have done neither: the same checks hold there, found in the same place.

use clap::error::ErrorKind;
use clap::{Arg, Command};
use serde_json::Value;
use sokudo_i18n::english;
use sokudo_model::{Refusal, Text};

use crate::contract::Options;
use crate::refusal::operator;

/// Options that are checked where they are carried out.
pub trait Checked {
    /// Checks options and the JSON that they were read from.
    ///
    /// Errors: a number is out of its range, or what they say together cannot be done.
    fn check(&self, text: &str) -> Result<(), Refusal>;
}

impl<O: Options> Checked for O {
    fn check(&self, text: &str) -> Result<(), Refusal> {
        within_ranges::<O>(text)?;
        self.validate()
    }
}

/// Errors: a number of this JSON object is not one that could be typed.
fn within_ranges<O: Options>(text: &str) -> Result<(), Refusal> {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
        // What is wrong is said where it is read.
        return Ok(());
    };
    let required = |arg: Arg| arg.required(false);
    let mut command =
        O::augment_args(Command::new(O::NAME).no_binary_name(true)).mut_args(required);
    let long = |name: &String| {
        let arg = command
            .get_arguments()
            .find(|arg| arg.get_id() == name.as_str());
        Some(arg?.get_long()?.to_owned())
    };
    let numbers = fields.iter().filter(|(_, value)| value.is_number());
    let typed: Vec<(&String, String)> = numbers
        .filter_map(|(name, value)| Some((name, format!("--{}={value}", long(name)?))))
        .collect();
    for (name, typed) in typed {
        let read = command.try_get_matches_from_mut([typed.as_str()]);
        // What an option needs beside it is judged by the options themselves.
        let is_out = |error: &clap::Error| {
            matches!(
                error.kind(),
                ErrorKind::ValueValidation | ErrorKind::InvalidValue
            )
        };
        if read.is_err_and(|error| is_out(&error)) {
            let says = english(&Text::new("error-unit-out-of-range").with("text", &typed[2..]));
            return Err(operator(
                Text::new("error-options-unreadable")
                    .word("workload", O::NAME)
                    .word("error", format!("{name}: {says}")),
                Text::new("error-hint-same-version"),
            ));
        }
    }
    Ok(())
}
