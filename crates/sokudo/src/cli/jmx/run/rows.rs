//! The result file: a check of its path before the test, and a summary after it.

use std::fs;
use std::path::Path;

use sokudo_model::{Record, Text};

use super::PlanArgs;
use crate::cli::jtl::Reported;
use crate::cli::workload::Measured;
use crate::cli::{Exit, Failure, finish, jtl};

impl PlanArgs {
    /// The dashboard must have its place before the test, not after it; and what is told of a test
    /// must not be told of rows that were there before.
    pub(super) fn check_output(&self) -> Result<(), Failure> {
        if let Some(directory) = self.output.as_deref().filter(|_| self.dashboard) {
            jtl::must_be_free(directory, self.force)?;
        }
        let Some(file) = self.log.as_deref().filter(|_| self.dashboard) else {
            return Ok(());
        };
        let holds = fs::metadata(file).is_ok_and(|file| file.len() > 0);
        match holds && !self.force {
            true => Err(Failure::operator(
                Text::new("error-rows-not-empty").with("path", file.display()),
                Text::new("error-rows-not-empty-hint"),
            )),
            false => Ok(()),
        }
    }

    /// Dashboard of a file of results, with what the run says that left it.
    pub(super) fn report(
        &self,
        file: &Path,
        record: Option<&Record>,
        is_shown: bool,
    ) -> Result<Reported, Failure> {
        jtl::report(&jtl::DashboardOrder {
            file,
            record,
            is_shown,
            output: self.output.as_deref(),
            force: self.force,
            goals: None,
            compare: self.compare.as_deref(),
            settings: jtl::settings_of(&self.properties.layers()?)?,
            show: &self.show,
        })
    }

    /// Makes the report that was asked for behind the test; a test that failed stays a failed one.
    pub(super) fn report_after(&self, measured: &Measured) -> Result<Exit, Failure> {
        let file = self.log.as_deref().filter(|_| self.dashboard);
        let report = |record: Option<&Record>, is_shown: bool| {
            let report = |file| self.report(file, record, is_shown);
            file.map(report).transpose()
        };
        match measured {
            // What it did until then has been told.
            Measured::Early(exit) => report(None, false).map(|_| *exit),
            Measured::Whole(record, path) if self.show.json => {
                let mut summary = finish::summary(record, path);
                let reported = report(Some(record), true);
                if let Ok(Some(Reported {
                    json: Some(json), ..
                })) = &reported
                {
                    summary["dashboard"] = json.clone();
                }
                println!("{summary:#}");
                reported.map(|_| finish::exit_of(record))
            }
            Measured::Whole(record, path) => {
                finish::show(record, path, &self.show);
                report(Some(record), true).map(|_| finish::exit_of(record))
            }
        }
    }

    /// The tool's rule: rows are added to a file that exists, unless it is to be replaced.
    pub(super) fn clear_results(&self) -> Result<(), Failure> {
        let Some(path) = self
            .log
            .as_deref()
            .filter(|path| self.force && path.exists())
        else {
            return Ok(());
        };
        fs::remove_file(path).map_err(|error| Failure::cannot_write(path, &error))
    }
}
