//! Options of `sokudo tpcb`. The field docs are the manual.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::Refusal;
use sokudo_workload::choice::{self, Choice, Only, Subset};
use sokudo_workload::contract::Options;

use crate::drive::BenchmarkOptions;
use crate::options::{CommonOptions, by_common_options};

/// Variant of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Account, teller, branch and history.
    Full,
    /// Without teller and branch.
    NoBranch,
    /// Only the account's balance is read.
    Select,
}

impl Choice for Variant {
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::NoBranch => "no-branch",
            Self::Select => "select",
        }
    }
}

impl Serialize for Variant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The variants of this workload.
pub struct Variants;

impl Subset for Variants {
    type Choice = Variant;
    const NAME: &'static str = "Variant";
    const VALUES: &'static [(Variant, &'static str)] = &[
        (
            Variant::Full,
            "Account, teller, branch and history, as TPC-B",
        ),
        (
            Variant::NoBranch,
            "Without teller and branch: no row that many wait for",
        ),
        (Variant::Select, "Only read an account's balance"),
    ];
}

/// Options of `sokudo tpcb`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TpcbOptions {
    /// Options of all loads on databases.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,

    /// Branches of the database that is made for the run; a server's own database has its scale already.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub scale: u32,

    /// What each transaction does.
    #[arg(long, value_parser = choice::parser::<Variants>(), default_value = "full")]
    #[serde(deserialize_with = "choice::read::<Variants, _>")]
    #[schemars(with = "Only<Variants>")]
    pub variant: Variant,

    /// Send the statements of a transaction together, and wait once for all of their answers: one round trip
    /// instead of seven. Only PostgreSQL has pipelines.
    #[arg(long)]
    pub pipeline: bool,
}

impl Default for TpcbOptions {
    fn default() -> Self {
        Self {
            common: CommonOptions::default(),
            scale: 1,
            variant: Variant::Full,
            pipeline: false,
        }
    }
}

impl Options for TpcbOptions {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.common.validate()?;
        match self.pipeline {
            true => self.common.check_pipeline(),
            false => Ok(()),
        }
    }

    by_common_options!();

    fn fixed(&self) -> Option<&'static str> {
        self.common.fixed()
    }
}

impl BenchmarkOptions for TpcbOptions {
    fn common(&self) -> Cow<'_, CommonOptions> {
        Cow::Borrowed(&self.common)
    }

    fn common_mut(&mut self) -> Option<&mut CommonOptions> {
        Some(&mut self.common)
    }

    fn own_scale(&self) -> u32 {
        self.scale
    }

    fn writes(&self) -> bool {
        self.variant != Variant::Select
    }
}
