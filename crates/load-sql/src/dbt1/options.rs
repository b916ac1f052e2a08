//! Options of `sokudo dbt1`. The field docs are the manual.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{Refusal, Text};
use sokudo_workload::choice::{self, Choice, Only, Subset};
use sokudo_workload::contract::Options;
use sokudo_workload::refusal::operator;
use sokudo_workload::values::Span;

use crate::drive::BenchmarkOptions;
use crate::options::{CommonOptions, by_common_options};

/// Longest mean think time.
const MOST_THINK_NS: u64 = 60_000_000_000;

/// Mix of interactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// They look.
    Browsing,
    /// They look and buy.
    Shopping,
    /// They buy.
    Ordering,
}

impl Choice for Mix {
    fn name(self) -> &'static str {
        match self {
            Self::Browsing => "browsing",
            Self::Shopping => "shopping",
            Self::Ordering => "ordering",
        }
    }
}

impl Serialize for Mix {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The mixes of this workload.
pub struct Mixes;

impl Subset for Mixes {
    type Choice = Mix;
    const NAME: &'static str = "Mix";
    const VALUES: &'static [(Mix, &'static str)] = &[
        (
            Mix::Browsing,
            "Mostly looking: 0.7 % of the interactions buy",
        ),
        (Mix::Shopping, "Looking and buying: 1.2 % buy"),
        (Mix::Ordering, "Mostly buying: 10 % buy"),
    ];
}

/// Options of `sokudo dbt1`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dbt1Options {
    /// Options of all loads on databases.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,

    /// Scale of the database that is made for the run: 2,880 customers each; a server's own database has its scale
    /// already.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub scale: u32,

    /// What visitors mostly do.
    #[arg(long, value_parser = choice::parser::<Mixes>(), default_value = "shopping")]
    #[serde(deserialize_with = "choice::read::<Mixes, _>")]
    #[schemars(with = "Only<Mixes>")]
    pub mix: Mix,

    /// Mean time that a visitor thinks before each interaction, exponentially distributed, at most ten times this:
    /// 7s is as specified. Default: none.
    #[arg(long, value_name = "TIME")]
    #[schemars(with = "Option<String>")]
    pub think: Option<Span>,
}

impl Default for Dbt1Options {
    fn default() -> Self {
        Self {
            common: CommonOptions::default(),
            scale: 1,
            mix: Mix::Shopping,
            think: None,
        }
    }
}

impl Options for Dbt1Options {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.common.validate()?;
        let Some(think) = self.think else {
            return Ok(());
        };
        if think.0 == 0 || think.0 > MOST_THINK_NS {
            return Err(operator(
                Text::new("error-dbt1-think"),
                Text::new("error-dbt1-think-hint"),
            ));
        }
        if self.common.rate.is_some() {
            return Err(operator(
                Text::new("error-dbt1-think-rate"),
                Text::new("error-dbt2-pace-rate-hint"),
            ));
        }
        Ok(())
    }

    by_common_options!();

    fn fixed(&self) -> Option<&'static str> {
        self.common.fixed().or(self.think.map(|_| "think"))
    }
}

impl BenchmarkOptions for Dbt1Options {
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
        true
    }
}
