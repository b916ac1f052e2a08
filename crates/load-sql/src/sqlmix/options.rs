//! Options of `sokudo sqlmix`. The field docs are the manual.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{Refusal, Text};
use sokudo_workload::contract::Options;
use sokudo_workload::refusal::operator;
use sokudo_workload::text_file::read_text;

use super::file_text::{Define, FileText};
use super::mix::Mix;
use crate::drive::BenchmarkOptions;
use crate::options::{CommonOptions, by_common_options};

/// Options of `sokudo sqlmix`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqlmixOptions {
    /// Options of all loads on databases.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,

    /// Transactions to mix: a script file of pgbench, or a mix in TOML (`.toml`), with its weight behind an `@`
    /// (`read.sql@3`); may be given several times.
    #[arg(short, long, value_name = "FILE[@WEIGHT]")]
    #[schemars(with = "Vec<String>")]
    pub file: Vec<FileText>,

    /// Value of `:scale`; also the branches of the tables of `tpcb` in the database that is made for a run
    /// without --target.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub scale: u32,

    /// Variable with its value at the begin; may be given several times.
    #[arg(short = 'D', long, value_name = "NAME=VALUE")]
    #[schemars(with = "Vec<String>")]
    pub define: Vec<Define>,
}

impl Default for SqlmixOptions {
    fn default() -> Self {
        Self {
            common: CommonOptions::default(),
            file: Vec::new(),
            scale: 1,
            define: Vec::new(),
        }
    }
}

/// Most branches of a database that is made for a run.
const MOST_OWN_SCALE: u32 = 10;

impl SqlmixOptions {
    /// Largest file of transactions.
    const MAX_FILE_BYTES: u64 = 1 << 20;

    /// The mix of its files, which were read.
    ///
    /// Errors: there is none, or something in them is wrong or not supported.
    pub fn mix(&self) -> Result<Mix, Refusal> {
        let defined: Vec<&str> = self.define.iter().map(|one| one.name.as_str()).collect();
        Mix::read(&self.file, &defined).map_err(|wrong| wrong.refusal(&self.file))
    }
}

impl Options for SqlmixOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.common.validate()?;
        if self.file.is_empty() {
            return Err(operator(
                Text::new("error-sqlmix-nothing"),
                Text::new("error-sqlmix-nothing-hint"),
            ));
        }
        if self.common.target.is_none() && self.scale > MOST_OWN_SCALE {
            return Err(operator(
                Text::new("error-sqlmix-scale").with("most", MOST_OWN_SCALE),
                Text::new("error-sqlmix-scale-hint"),
            ));
        }
        // A file is read before the load is planned.
        match self.names_file() {
            Some(_) => Ok(()),
            None if self.mix()?.has_pipeline() => self.common.check_pipeline(),
            None => Ok(()),
        }
    }

    by_common_options!();

    fn fixed(&self) -> Option<&'static str> {
        self.common.fixed()
    }

    fn names_file(&self) -> Option<&'static str> {
        let is_unread = |file: &FileText| file.text.is_none();
        self.file.iter().any(is_unread).then_some("file")
    }

    fn read_files(&mut self) -> Result<(), Refusal> {
        for file in self.file.iter_mut().filter(|file| file.text.is_none()) {
            let read = read_text(&file.path, Self::MAX_FILE_BYTES);
            file.text = Some(read.map_err(|error| {
                let why = match error.kind() {
                    std::io::ErrorKind::FileTooLarge => Text::new("error-sqlmix-file-large"),
                    _ => Text::words(error.to_string()),
                };
                operator(
                    Text::new("error-sqlmix-file")
                        .word("path", &file.path)
                        .text("why", why),
                    Text::new("error-sqlmix-file-hint"),
                )
            })?);
        }
        self.validate()
    }
}

impl BenchmarkOptions for SqlmixOptions {
    fn common(&self) -> Cow<'_, CommonOptions> {
        Cow::Borrowed(&self.common)
    }

    fn common_mut(&mut self) -> Option<&mut CommonOptions> {
        Some(&mut self.common)
    }

    fn own_scale(&self) -> u32 {
        self.scale
    }

    /// Nothing of its own can be checked in tables that it does not know.
    fn writes(&self) -> bool {
        false
    }
}
