//! The knee of a plan: a property is raised, and the plan read anew with each of its values.

use sokudo_controller::{ControlError, KneePlan, KneeRange, Run};
use sokudo_jmeter::plan::{Plan, Stage};
use sokudo_load_http::jmx::{self, JmxOptions, change_plan, read_plan};
use sokudo_model::{Refusal, Text};
use sokudo_session::{is_here, rule_has_its_bounds};
use sokudo_workload::refusal::operator;

use super::PlanArgs;
use crate::cli::Failure;

/// The name that stands for the users of each group instead of a property.
pub(super) const USERS: &str = "users";

/// Refuses what cannot be climbed before a host is called: a property that changes no number of
/// users, a rule without its demands, an open model.
pub(super) fn check(args: &PlanArgs, options: &JmxOptions, seed: u64) -> Result<(), Failure> {
    let Some(range) = &args.knee else {
        return Ok(());
    };
    rule_has_its_bounds(args.rule.rule, args.slo.as_ref())?;
    if options.open_per_s.is_some() || !options.schedule.is_empty() {
        return Err(operator(
            Text::new("error-knee-fixed").with("option", "model"),
            Text::new("error-leave-out-hint").with("option", "model"),
        )
        .into());
    }
    let users = |value: u32| -> Result<u64, Failure> {
        Ok(users(&read(&with(options, range, value), seed)?))
    };
    let (low, high) = (users(range.low)?, users(range.high)?);
    if low >= high {
        let says = Text::new("error-knee-property")
            .with("property", &range.option)
            .with("low", range.low)
            .with("high", range.high)
            .with("users", low)
            .with("most", high);
        return Err(operator(says, Text::new("error-knee-property-hint")).into());
    }
    Ok(())
}

/// Executes the plan with more and more users.
pub(super) fn climb(
    run: &mut Run,
    args: &PlanArgs,
    options: &JmxOptions,
    seed: u64,
) -> Result<(), ControlError> {
    let Some(range) = &args.knee else {
        return Ok(());
    };
    let most = read(&with(options, range, range.high), seed);
    let users_per_value = most.map_or(1.0, |plan| users(&plan) as f64 / f64::from(range.high));
    let plan = KneePlan {
        protect: args.rule.protect.then_some(users_per_value),
        range: range.clone(),
        rule: args.rule.rule,
        bounds: args.slo.clone(),
        is_server_here: serves_here(options, seed),
    };
    let phase_of = |value| {
        let options = with(options, range, value);
        let read = read(&options, seed)?;
        Ok(jmx::phase_plan(&read, &options, 1))
    };
    run.knee(&plan, &phase_of).map(drop)
}

fn with(options: &JmxOptions, range: &KneeRange, value: u32) -> JmxOptions {
    let mut options = options.clone();
    match range.option.as_str() {
        USERS => options.users = Some(u64::from(value)),
        property => options
            .properties
            .push((property.to_owned(), value.to_string())),
    }
    options
}

/// The plan as these options have it. Errors: it cannot be executed.
pub(super) fn read(options: &JmxOptions, seed: u64) -> Result<Plan, Refusal> {
    let reading = read_plan(options, seed)?;
    let plan = reading.plan.filter(|_| reading.errors == 0);
    let mut plan = plan.ok_or_else(|| {
        operator(
            Text::new("error-knee-plan"),
            Text::new("error-knee-plan-hint"),
        )
    })?;
    change_plan(&mut plan, options)?;
    Ok(plan)
}

fn users(plan: &Plan) -> u64 {
    let main = plan
        .groups
        .iter()
        .filter(|group| group.stage == Stage::Main);
    main.filter_map(|group| group.load.users()).sum()
}

/// Whether the plan or the properties name this host itself as a server.
fn serves_here(options: &JmxOptions, seed: u64) -> bool {
    let named = options.properties.iter().any(|(_, value)| is_here(value));
    let plan = || {
        read(options, seed)
            .ok()
            .and_then(|plan| serde_json::to_value(plan).ok())
    };
    named || plan().is_some_and(|plan| has_domain_here(&plan))
}

fn has_domain_here(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Object(fields) => fields.iter().any(|(name, value)| {
            let own = name == "domain" && value.as_str().is_some_and(is_here);
            own || has_domain_here(value)
        }),
        serde_json::Value::Array(values) => values.iter().any(has_domain_here),
        _ => false,
    }
}
