//! Options of `sokudo dbt2`. The field docs are the manual.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sokudo_model::{Refusal, Text};
use sokudo_workload::contract::Options;
use sokudo_workload::refusal::operator;

use crate::drive::BenchmarkOptions;
use crate::options::{CommonOptions, by_common_options};

/// Largest factor of keying and think times.
const MOST_PACE: f64 = 100.0;

/// Options of `sokudo dbt2`.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dbt2Options {
    /// Options of all loads on databases.
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,

    /// Warehouses of the database that is made for the run; a server's own database has its scale already.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub warehouses: u32,

    /// Let each client type and think as a user at a terminal does, for this factor of the times of the
    /// specification: 1 is as specified, with ten terminals (--clients) per warehouse. Default: no pauses.
    #[arg(long, value_name = "FACTOR")]
    pub pace: Option<f64>,
}

impl Default for Dbt2Options {
    fn default() -> Self {
        Self {
            common: CommonOptions::default(),
            warehouses: 1,
            pace: None,
        }
    }
}

impl Options for Dbt2Options {
    const NAME: &'static str = super::NAME;

    fn validate(&self) -> Result<(), Refusal> {
        self.common.validate()?;
        let Some(pace) = self.pace else {
            return Ok(());
        };
        if !(pace > 0.0 && pace <= MOST_PACE) {
            return Err(operator(
                Text::new("error-dbt2-pace").with("pace", pace),
                Text::new("error-dbt2-pace-hint").with("most", MOST_PACE),
            ));
        }
        if self.common.rate.is_some() {
            return Err(operator(
                Text::new("error-dbt2-pace-rate"),
                Text::new("error-dbt2-pace-rate-hint"),
            ));
        }
        Ok(())
    }

    by_common_options!();

    fn fixed(&self) -> Option<&'static str> {
        self.common.fixed().or(self.pace.map(|_| "pace"))
    }
}

impl BenchmarkOptions for Dbt2Options {
    fn common(&self) -> Cow<'_, CommonOptions> {
        Cow::Borrowed(&self.common)
    }

    fn common_mut(&mut self) -> Option<&mut CommonOptions> {
        Some(&mut self.common)
    }

    fn own_scale(&self) -> u32 {
        self.warehouses
    }

    fn writes(&self) -> bool {
        true
    }
}
