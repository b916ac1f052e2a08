//! Warnings about probable mistakes in a plan.

use std::collections::BTreeMap;

use sokudo_model::Text;

use super::{controllers, endless, samplers, think, without_effect};
use crate::compile::Compiler;
use crate::coverage::Coverage;
use crate::expression::Template;
use crate::plan::{
    Config, ConfigKind, CsvData, Destination, Group, ListenerKind, Load, Loops, Plan, SamplerKind,
    Stage, TimerKind, Value,
};
use crate::registry::Treatment;
use crate::xml;

/// Most bytes of a data file that are read to find its columns.
const MOST_HEADER_BYTES: u64 = 64 << 20;

/// Variables that JMeter itself sets.
const BUILT_IN: &[&str] = &[
    "JMeterThread.last_sample_ok",
    "JMeterThread.pack",
    "START.HMS",
    "START.MS",
    "START.YMD",
    "TESTSTART.MS",
    "__jmv_SAME_USER",
];

/// Reports all warnings about a plan.
pub(crate) fn warn(plan: &Plan, coverage: &[Coverage], compiler: &mut Compiler<'_>) {
    for group in &plan.groups {
        group_warnings(plan, group, compiler);
    }
    if plan.groups.is_empty() {
        let says = Text::new("jmx-no-group");
        compiler.problems.warning(None, says);
    }
    endless::warn(plan, compiler);
    same_property(plan, compiler);
    defaults_of_p(compiler);
    timers(plan, compiler);
    keep_alive(plan, compiler);
    listeners(plan, compiler);
    without_effect::warn(compiler);
    for config in &plan.configs {
        if let ConfigKind::CsvData(csv) = &config.kind {
            data_file(config, csv, compiler);
        }
    }
    let scripts = coverage
        .iter()
        .any(|c| c.treatment == Some(Treatment::NeedsScripts));
    if !scripts {
        unset_variables(plan, compiler);
    }
}

fn group_warnings(plan: &Plan, group: &Group, compiler: &mut Compiler<'_>) {
    let told = |key: &str| Text::new(key).word("group", group.name.as_str());
    let place = || group.place.clone();
    if group.body.is_empty() {
        compiler.problems.warning(place(), told("jmx-empty-group"));
    }
    if group.load.users() == Some(0) {
        compiler.problems.warning(place(), told("jmx-no-users"));
    }
    let Load::Users {
        ramp_ms,
        loops,
        duration_ms,
        ..
    } = group.load
    else {
        return;
    };
    if loops == Loops::Count(0) {
        compiler.problems.warning(place(), told("jmx-no-loops"));
    }
    if duration_ms.is_some_and(|duration| duration > 0 && ramp_ms > duration) {
        compiler
            .problems
            .warning(place(), told("jmx-ramp-too-long"));
    }
    let first = samplers(&group.body).first().copied();
    let waits = first.is_some_and(|id| !plan.samplers[id as usize].scope.timers.is_empty());
    if waits && group.stage == Stage::Main {
        compiler.problems.warning(place(), told("jmx-timer-first"));
    }
}

/// Several groups with users: states the total, which is easily overlooked.
fn same_property(plan: &Plan, compiler: &mut Compiler<'_>) {
    let main: Vec<_> = plan
        .groups
        .iter()
        .filter(|g| g.stage == Stage::Main)
        .collect();
    let users: Vec<u64> = main.iter().filter_map(|group| group.load.users()).collect();
    if users.len() < 2 || plan.serialize_groups {
        return;
    }
    let parts: Vec<_> = users.iter().map(u64::to_string).collect();
    let total = users.iter().sum::<u64>();
    if total == 0 {
        return;
    }
    let says = Text::new("jmx-users-add-up")
        .word("parts", parts.join(" + "))
        .word("total", total.to_string());
    compiler.problems.warning(None, says);
}

/// `__P` without a default gives "1" if the property is not set.
fn defaults_of_p(compiler: &mut Compiler<'_>) {
    let unset = compiler.uses.properties.values();
    let unset: Vec<_> = unset
        .filter(|used| used.origin.is_none() && !used.has_default)
        .cloned()
        .collect();
    for used in unset {
        let name = used.name.as_str();
        let says = Text::new("jmx-property-unset")
            .word("property", name)
            .word("value", used.value.as_str());
        let hint = Text::new("jmx-property-unset-hint").word("property", name);
        compiler.problems.warning_with(used.place, says, hint);
    }
}

/// The absolute value moves the mean of a Gaussian pause away from its offset.
fn timers(plan: &Plan, compiler: &mut Compiler<'_>) {
    for timer in &plan.timers {
        let (
            Some(drawn),
            TimerKind::Gaussian {
                offset_ms: Value::Fixed(offset),
                ..
            },
        ) = (think(&timer.kind), &timer.kind)
        else {
            continue;
        };
        let mean = drawn.mean_ms();
        if (mean - offset).abs() > 0.05 * offset.abs().max(1.0) {
            let says = Text::new("jmx-gaussian-mean")
                .word("timer", timer.name.to_string())
                .word("offset", format!("{offset:.0}"))
                .word("mean", format!("{mean:.0}"));
            compiler.problems.warning(timer.place.clone(), says);
        }
    }
}

fn keep_alive(plan: &Plan, compiler: &mut Compiler<'_>) {
    let off = |sampler: &&crate::plan::Sampler| match &sampler.kind {
        SamplerKind::Http(request) => request.keep_alive == Value::Fixed(false),
        _ => false,
    };
    let all: Vec<_> = plan.samplers.iter().filter(off).collect();
    if let Some(first) = all.first() {
        let says = Text::new("jmx-no-keep-alive").word("count", all.len().to_string());
        compiler.problems.warning(first.place.clone(), says);
    }
}

fn listeners(plan: &Plan, compiler: &mut Compiler<'_>) {
    for listener in &plan.listeners {
        if let ListenerKind::Backend(backend) = &listener.kind
            && let Destination::Nobody(client) = &backend.to
        {
            let says = Text::new("jmx-no-backend").word("client", client.as_str());
            let hint = Text::new("jmx-no-backend-hint");
            let place = listener.place.clone();
            compiler.problems.warning_with(place, says, hint);
        }
        let ListenerKind::Results { file, format, .. } = &listener.kind else {
            continue;
        };
        let is_on = |name| format.contains(&(name, true));
        let is_heavy = is_on("xml") && (is_on("response_data") || is_on("samplerData"));
        if is_heavy && !file.is_empty() {
            let says = Text::new("jmx-saves-responses")
                .word("listener", listener.name.to_string())
                .word("file", file.as_str());
            compiler.problems.warning(listener.place.clone(), says);
        }
    }
}

/// Data files must exist; if the first row names the variables, they count as set.
fn data_file(config: &Config, csv: &CsvData, compiler: &mut Compiler<'_>) {
    let Some(path) = known_at_start(&csv.file, config, compiler) else {
        return;
    };
    let encoding = known_at_start(&csv.encoding, config, compiler).unwrap_or_default();
    if !compiler.files.exists(&path) {
        let says = Text::new("jmx-no-data-file").word("file", path.as_str());
        let hint = Text::new("jmx-no-data-file-hint");
        compiler
            .problems
            .error_with(config.place.clone(), says, hint);
        return;
    }
    if !csv.variables.is_empty() {
        return;
    }
    let unreadable = |why: String| {
        Text::new("jmx-data-file-unreadable")
            .word("file", path.as_str())
            .word("why", why)
    };
    let bytes = match compiler.files.read(&path, MOST_HEADER_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            compiler
                .problems
                .error(config.place.clone(), unreadable(error.kind().to_string()));
            return;
        }
    };
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(bytes.len());
    let Ok(header) = xml::decode_named(&bytes[..end], &encoding) else {
        compiler
            .problems
            .error(config.place.clone(), unreadable(encoding));
        return;
    };
    let delimiter = match csv.delimiter.constant() {
        Some("\\t") => "\t",
        Some(text) if !text.is_empty() => text,
        _ => ",",
    };
    for name in header.trim_end().split(delimiter) {
        compiler.sets(&Template::text(name.trim().trim_matches('"')));
    }
}

/// The text of a template that depends only on the start of the test.
fn known_at_start(
    template: &Template,
    config: &Config,
    compiler: &mut Compiler<'_>,
) -> Option<String> {
    let text = compiler.value_at_start(template, &config.place);
    (!text.contains("${")).then_some(text)
}

/// Variables that are used but never set: they render as their own `${name}`.
fn unset_variables(plan: &Plan, compiler: &mut Compiler<'_>) {
    let set = &compiler.uses.set;
    let prefixes: Vec<&str> = set
        .keys()
        .filter_map(|name| name.strip_suffix('*'))
        .collect();
    let counters: Vec<String> = plan
        .groups
        .iter()
        .flat_map(|group| controllers(&group.body))
        .map(|controller| format!("__jm__{}__idx", controller.name))
        .collect();
    let is_set = |name: &str| {
        set.contains_key(name)
            || BUILT_IN.contains(&name)
            || name.starts_with("COOKIE_")
            || counters.iter().any(|counter| counter == name)
            || prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    let unset: BTreeMap<_, _> = compiler
        .uses
        .variables
        .iter()
        .filter(|(name, _)| !is_set(name))
        .map(|(name, place)| (name.clone(), place.clone()))
        .collect();
    for (name, place) in unset {
        let says = Text::new("jmx-variable-unset").word("variable", name);
        compiler.problems.warning(place, says);
    }
}
