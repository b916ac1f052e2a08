//! A plan with and without one change: of a property, of its users, or of a knob of the loaded target.

use sokudo_controller::{ControlError, Run};
use sokudo_jmeter::plan::Plan;
use sokudo_load_http::jmx::{self, JmxOptions};
use sokudo_model::{Refusal, Text};
use sokudo_session::{TARGET, Versus};
use sokudo_workload::refusal::operator;

use super::PlanArgs;
use super::knee::{USERS, read};
use crate::cli::Failure;

/// Refuses a change that changes nothing before a host is called.
pub(super) fn check(args: &PlanArgs, options: &JmxOptions, seed: u64) -> Result<(), Failure> {
    let Some(change) = args.versus.as_ref().filter(|change| !change.is_of_target()) else {
        return Ok(());
    };
    let plain = |plan: &Plan| serde_json::to_value(plan).unwrap_or_default();
    let without = read(options, seed)?;
    let with = read(&with(options, change)?, seed)?;
    if plain(&without) == plain(&with) {
        let says = Text::new("error-versus-nothing")
            .word("option", &change.option)
            .word("value", &change.value);
        return Err(operator(says, Text::new("error-versus-nothing-hint")).into());
    }
    Ok(())
}

/// Executes the plan four times with and four times without the change, in turns.
pub(super) fn compare(
    run: &mut Run,
    args: &PlanArgs,
    plan: &Plan,
    options: &JmxOptions,
    seed: u64,
) -> Result<(), ControlError> {
    let Some(change) = &args.versus else {
        return Ok(());
    };
    let without = args.bounded(jmx::phase_plan(plan, options, 1));
    if let Some(knob) = change.option.strip_prefix(TARGET) {
        let named = (change.option.as_str(), knob, change.value.as_str());
        return run.versus_knob(named, &without).map(drop);
    }
    let refused = |refusal: Refusal| ControlError::refused("this host".into(), refusal);
    let changed = with(options, change).map_err(refused)?;
    let plan = read(&changed, seed).map_err(refused)?;
    let with = args.bounded(jmx::phase_plan(&plan, &changed, 1));
    let named = (change.option.as_str(), change.value.as_str());
    run.versus(named, &without, &with).map(drop)
}

fn with(options: &JmxOptions, change: &Versus) -> Result<JmxOptions, Refusal> {
    let mut options = options.clone();
    match change.option.as_str() {
        USERS => {
            let users = change.value.parse().ok().filter(|users| *users > 0);
            options.users = Some(users.ok_or_else(|| {
                let text = format!("{USERS}={}", change.value);
                operator(
                    Text::new("error-value-versus").word("text", text),
                    Text::new("error-versus-nothing-hint"),
                )
            })?);
        }
        property => options
            .properties
            .push((property.to_owned(), change.value.clone())),
    }
    Ok(options)
}
