//! Executes plans with sokudo, one process for each.

use std::ffi::OsString;
use std::time::Instant;

use super::{BOUND, DIRECT, Done, PLAN_BOUND, Work};
use crate::program::Sokudo;

pub(super) fn execute(work: &Work<'_>) -> Vec<Done> {
    let begun = Instant::now();
    let each = (0..work.plans.len()).map(|plan| match begun.elapsed() < BOUND {
        true => one(work, plan),
        false => work.done(
            plan,
            String::new(),
            Some("the plans before it took too long".into()),
        ),
    });
    each.collect()
}

fn one(work: &Work<'_>, plan: usize) -> Done {
    work.recorder.next();
    let mut words: Vec<OsString> = [
        "compat",
        "jmeter",
        "-n",
        "-H",
        "127.0.0.1",
        "-N",
        DIRECT,
        "-P",
    ]
    .map(OsString::from)
    .into();
    words.push(work.recorder.port.to_string().into());
    words.extend(["-t".into(), work.plans[plan].clone().into_os_string()]);
    words.extend(["-l".into(), work.results(plan).into_os_string()]);
    let folder = work.folder(plan);
    let out = ("out".to_owned(), folder.display().to_string());
    for (name, value) in work.properties.iter().chain([&out]) {
        words.push(format!("-J{name}={value}").into());
    }
    // It may keep a log and records in its working directory, which is not the plan's.
    let call = Sokudo::new(words).dir(&work.place).bound(PLAN_BOUND);
    match call.start().end() {
        Err(why) => work.done(plan, String::new(), Some(why)),
        Ok(ended) => {
            let failed = match ended.code {
                Some(0) => None,
                // Nothing was executed.
                Some(2) => Some(ended.stderr.trim().to_owned()),
                _ => Some(ended.to_string()),
            };
            work.done(plan, ended.stdout, failed)
        }
    }
}
