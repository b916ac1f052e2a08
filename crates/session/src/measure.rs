//! Measures a workload once, several times, as a sweep, or as a search for the highest rate.
//!
//! ```text
//! (nothing)               one phase
//! repeat 10               the same phase ten times ─► medians and their intervals
//! sweep rate=1k..9k/s     one phase per value ─► curve and its knee
//! knee connections=1..200 one phase per number of users, more than once ─► where requests queue
//! versus rcvbuf=4MiB      with and without a change, in turns ─► its effect
//! find 'p99<1ms'          trials ─► the highest rate that holds, confirmed by a fresh run
//! ```
//!
//! The same for every workload: what differs between them is in their [`Options`].

use clap::Command;
use sokudo_controller::{ControlError, KneePlan, KneeRange, Run, SearchPlan, Sweep, SweepStep};
use sokudo_i18n::TextError;
use sokudo_model::settings::SETTING;
use sokudo_model::{Bound, Bounds, Labels, PhasePlan, Refusal, Text, kinds, units};
use sokudo_stats::capacity::record::Rule;
use sokudo_workload::Options;
use sokudo_workload::refusal::operator;

use crate::bound_ns;
use crate::typed::not_understood;

/// Probes of a search at most.
const MAX_PROBES: u32 = 16;
/// Shortest probe of a search, nanoseconds.
const SHORTEST_PROBE_NS: u64 = 1_000_000_000;
/// Time that a phase takes beside its load, for telling how long a sweep will take, nanoseconds.
const BESIDE_NS: u64 = 500_000_000;

/// Way in which a load is measured.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// So many times; at least 2.
    pub repeat: Option<u32>,
    /// Once per value of an option.
    pub sweep: Option<Sweep>,
    /// With and without a change.
    pub versus: Option<Versus>,
    /// Raise the users until requests queue.
    pub knee: Option<KneeAsked>,
    /// Search the highest rate that keeps these bounds.
    pub find: Option<Bounds>,
    /// Bounds that a single measurement must keep.
    pub slo: Option<Bounds>,
    /// Largest distance between the begins of the flows, nanoseconds.
    pub max_skew_ns: Option<u64>,
    /// Nothing but load travels during a phase.
    pub quiet_phases: bool,
}

/// A change of one option.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versus {
    /// Name of the option, without hyphens in front.
    pub option: String,
    /// Its value; empty: it is left out.
    pub value: String,
}

/// Prefix of a target's knobs where options of a load can stand, too.
pub const TARGET: &str = "target.";

impl Versus {
    /// True for a knob of the sokudo target that is loaded: `target.pool.max=50`.
    pub fn is_of_target(&self) -> bool {
        self.option.starts_with(TARGET)
    }

    /// The setting of the database server that is loaded: `setting.commit_delay=200`; `None` for another change.
    pub fn setting(&self) -> Option<&str> {
        self.option.strip_prefix(SETTING)
    }
}

/// How a load is measured with and without a change.
fn versus<O: Options>(options: &O, change: Versus) -> Result<MeasureKind<O>, Refusal> {
    if change.setting().is_some() {
        has_settings(options, &change)?;
    } else if !change.is_of_target() {
        let with = changed(options, &change)?;
        return Ok(MeasureKind::Versus(change, Box::new(with)));
    }
    Ok(MeasureKind::VersusKnob(change))
}

/// Refuses a change of a setting of a database server where none is loaded.
fn has_settings<O: Options>(options: &O, change: &Versus) -> Result<(), Refusal> {
    match options.database() {
        Some(_) => Ok(()),
        None => Err(operator(
            Text::new("error-versus-no-database").with("option", &change.option),
            Text::new("error-versus-no-database-hint"),
        )),
    }
}

impl std::str::FromStr for Versus {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let both = text.split_once('=');
        let (option, value) = both
            .filter(|(option, _)| !option.is_empty())
            .ok_or_else(|| TextError::value("error-value-versus", text))?;
        Ok(Self {
            option: option.trim_start_matches("--").to_owned(),
            value: value.to_owned(),
        })
    }
}

/// A search for the knee: what is raised, and the rule that gives the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KneeAsked {
    /// Quantity that is raised.
    pub range: KneeRange,
    /// The rule.
    pub rule: Rule,
    /// Afterwards, check limits in front of the knee.
    pub protects: bool,
}

/// A checked measurement that can be carried out.
pub struct Measurement<O> {
    options: O,
    max_skew_ns: Option<u64>,
    quiet_phases: bool,
    kind: MeasureKind<O>,
}

enum MeasureKind<O> {
    Once(Option<Bounds>),
    Repeat(u32, Option<Bounds>),
    Sweep(String, Vec<(String, O)>),
    Knee(KneePlan),
    Versus(Versus, Box<O>),
    VersusKnob(Versus),
    Find(Bounds),
}

/// Runs of a search for the knee, about: levels up and down, and the decisive ones again.
const KNEE_RUNS: usize = 29;

/// Refuses a search for the knee of a load that is not closed, or with a rule that lacks its demands.
fn climbable<O: Options>(
    options: &O,
    asked: &KneeAsked,
    slo: Option<&Bounds>,
) -> Result<(), Refusal> {
    if let Some(fixed) = options.fixed() {
        return Err(operator(
            Text::new("error-knee-fixed").with("option", fixed),
            Text::new("error-leave-out-hint").with("option", fixed),
        ));
    }
    curve::<O>()?;
    rule_has_its_bounds(asked.rule, slo)?;
    if let Some(slo) = slo {
        measurable(options, slo)?;
    }
    for users in [asked.range.low, asked.range.high] {
        with_users(options, &asked.range.option, users)?;
    }
    Ok(())
}

/// Refuses the rule of demands without demands, and demands without that rule.
pub fn rule_has_its_bounds(rule: Rule, slo: Option<&Bounds>) -> Result<(), Refusal> {
    match (rule, slo) {
        (Rule::Slo, None) => Err(operator(
            Text::new("error-knee-no-slo"),
            Text::new("error-knee-no-slo-hint"),
        )),
        (Rule::Bound | Rule::Kneedle | Rule::Cpu(_), Some(_)) => Err(operator(
            Text::new("error-knee-slo").with("rule", rule.word()),
            Text::new("error-knee-slo-hint"),
        )),
        _ => Ok(()),
    }
}

/// The options with the change.
fn changed<O: Options>(options: &O, change: &Versus) -> Result<O, Refusal> {
    let with = match change.value.as_str() {
        "" => without_option(options, &change.option)?,
        value => {
            let sweep = Sweep {
                option: change.option.clone(),
                values: vec![value.to_owned()],
            };
            let varied = vary(options, &sweep)?.into_iter().next();
            varied.map_or_else(|| options.clone(), |(_, options)| options)
        }
    };
    match with.to_json() == options.to_json() {
        true => Err(operator(
            Text::new("error-versus-nothing")
                .with("option", &change.option)
                .with("value", &change.value),
            Text::new("error-versus-nothing-hint"),
        )),
        false => Ok(with),
    }
}

/// The options as if one had not been given.
fn without_option<O: Options>(options: &O, option: &str) -> Result<O, Refusal> {
    let unknown = || {
        operator(
            Text::new("error-sweep-option")
                .with("workload", O::NAME)
                .with("option", option),
            Text::new("error-workload-help-hint").with("workload", O::NAME),
        )
    };
    let fields = |options: &O| serde_json::from_str(&options.to_json()).map_err(|_| unknown());
    let (mut fields, usual): (serde_json::Value, serde_json::Value) =
        (fields(options)?, fields(&O::default())?);
    let name = option.replace('-', "_");
    let known = fields.get_mut(&name).ok_or_else(unknown)?;
    *known = usual.get(&name).cloned().unwrap_or_default();
    serde_json::from_value(fields).map_err(|_| unknown())
}

/// The options with so many users.
fn with_users<O: Options>(options: &O, option: &str, users: u32) -> Result<O, Refusal> {
    let sweep = Sweep {
        option: option.into(),
        values: vec![users.to_string()],
    };
    let varied = vary(options, &sweep)?.into_iter().next();
    Ok(varied.map_or_else(|| options.clone(), |(_, options)| options))
}

/// Refuses a search of what is fixed already, or of what the workload does not measure.
fn searchable<O: Options>(options: &O, bounds: &Bounds) -> Result<(), Refusal> {
    if let Some(fixed) = options.fixed() {
        return Err(operator(
            Text::new("error-find-fixed").with("option", fixed),
            Text::new("error-leave-out-hint").with("option", fixed),
        ));
    }
    if let Some(floor) = bounds.iter().find(|bound| bound.is_floor()) {
        return Err(operator(
            Text::new("error-find-floor").with("bound", floor),
            Text::new("error-find-floor-hint"),
        ));
    }
    measurable(options, bounds)
}

/// Refuses bounds on what the workload does not measure.
fn measurable<O: Options>(options: &O, bounds: &Bounds) -> Result<(), Refusal> {
    if let (Some(untimed), true) = (options.untimed(), bounds.iter().any(Bound::is_time)) {
        return Err(operator(
            Text::new("error-no-latency")
                .with("option", untimed)
                .with("bounds", bounds),
            Text::new("error-leave-out-hint").with("option", untimed),
        ));
    }
    bounds.check(O::NAME, curve::<O>()?)
}

/// The numbers that can be bounded, and searched for a knee. Errors: the workload has none.
fn curve<O: Options>() -> Result<&'static kinds::CurveMetrics, Refusal> {
    kinds::curve_metrics(O::NAME).ok_or_else(|| {
        operator(
            Text::new("error-unbounded").with("workload", O::NAME),
            Text::new("error-workload-help-hint").with("workload", O::NAME),
        )
    })
}

/// The options once per value, read as if each value had been typed.
fn vary<O: Options>(options: &O, sweep: &Sweep) -> Result<Vec<(String, O)>, Refusal> {
    let name = &sweep.option;
    // A default would overwrite what was typed.
    let no_defaults = |arg: clap::Arg| arg.default_values(Vec::<&str>::new());
    let bare = Command::new(O::NAME).no_binary_name(true);
    let command = O::augment_args_for_update(bare).mut_args(no_defaults);
    let known = |arg: &&clap::Arg| arg.get_long() == Some(name) && arg.get_action().takes_values();
    if !command.get_arguments().any(|arg| known(&arg)) {
        let swept = command
            .get_arguments()
            .filter(|arg| arg.get_action().takes_values());
        let names: Vec<&str> = swept.filter_map(|arg| arg.get_long()).collect();
        return Err(operator(
            Text::new("error-sweep-option")
                .with("workload", O::NAME)
                .with("option", name),
            Text::new("error-sweep-option-hint").with("options", names.join(", ")),
        ));
    }
    if options.fixed() == Some(name) {
        return Err(operator(
            Text::new("error-sweep-twice").with("option", name),
            Text::new("error-leave-out-hint").with("option", name),
        ));
    }
    let each = sweep.values.iter().map(|value| {
        let mut varied = options.clone();
        let typed = [format!("--{name}={value}")];
        let mut matches = command
            .clone()
            .try_get_matches_from(typed)
            .map_err(|error| not_understood(&error, O::NAME))?;
        varied
            .update_from_arg_matches_mut(&mut matches)
            .map_err(|error| not_understood(&error, O::NAME))?;
        varied.validate()?;
        Ok((value.clone(), varied))
    });
    each.collect()
}

impl<O: Options> Measurement<O> {
    /// Checks everything that can be checked before a host is called.
    pub fn new(options: &O, how: &How) -> Result<Self, Refusal> {
        options.validate()?;
        let kind = match (&how.sweep, &how.find, &how.knee) {
            _ if how.versus.is_some() => versus(options, how.versus.clone().unwrap_or_default())?,
            (Some(sweep), ..) => {
                let steps = vary(options, sweep)?;
                MeasureKind::Sweep(sweep.option.clone(), steps)
            }
            (None, Some(bounds), _) => {
                searchable(options, bounds)?;
                MeasureKind::Find(bounds.clone())
            }
            (None, None, Some(asked)) => {
                climbable(options, asked, how.slo.as_ref())?;
                MeasureKind::Knee(KneePlan {
                    range: asked.range.clone(),
                    rule: asked.rule,
                    bounds: how.slo.clone(),
                    is_server_here: options.server().is_some_and(is_here),
                    protect: asked.protects.then_some(1.0),
                })
            }
            (None, None, None) => {
                if let Some(slo) = &how.slo {
                    measurable(options, slo)?;
                }
                match how.repeat {
                    Some(runs) => MeasureKind::Repeat(runs, how.slo.clone()),
                    None => MeasureKind::Once(how.slo.clone()),
                }
            }
        };
        Ok(Self {
            options: options.clone(),
            max_skew_ns: how.max_skew_ns,
            quiet_phases: how.quiet_phases,
            kind,
        })
    }

    /// Duration of repeated runs or of a sweep, announced before they begin.
    pub fn announcement(&self) -> Option<Text> {
        let (says, durations_ns) = match &self.kind {
            MeasureKind::Once(_)
            | MeasureKind::Find(_)
            | MeasureKind::Versus(..)
            | MeasureKind::VersusKnob(_) => {
                return None;
            }
            MeasureKind::Repeat(runs, _) => {
                let says = |key: &str| Text::new(key).word("n", runs.to_string());
                let each = vec![self.options.duration_ns(); *runs as usize];
                (["cli-repeat", "cli-repeat-counted"].map(says), each)
            }
            MeasureKind::Knee(plan) => {
                let says = |key: &str| {
                    Text::new(key)
                        .word("n", KNEE_RUNS.to_string())
                        .word("option", plan.range.option.as_str())
                        .word("first", plan.range.low.to_string())
                        .word("last", plan.range.high.to_string())
                };
                let each = vec![self.options.duration_ns(); KNEE_RUNS];
                (["cli-knee", "cli-knee-counted"].map(says), each)
            }
            MeasureKind::Sweep(option, steps) => {
                let value = |step: Option<&(String, O)>| step.map_or("", |it| &it.0).to_owned();
                let says = |key: &str| {
                    Text::new(key)
                        .word("n", steps.len().to_string())
                        .word("option", option.as_str())
                        .word("first", value(steps.first()))
                        .word("last", value(steps.last()))
                };
                let each = steps.iter().map(|(_, options)| options.duration_ns());
                (["cli-sweep", "cli-sweep-counted"].map(says), each.collect())
            }
        };
        let [bounded, counted] = says;
        let total_ns: u64 = durations_ns.iter().map(|ns| ns + BESIDE_NS).sum();
        let says = match durations_ns.iter().all(|ns| *ns > 0) {
            true => bounded,
            false => counted,
        };
        Some(says.word("total", units::duration(total_ns as f64 / 1e9)))
    }

    /// Carries it out.
    pub fn measure(self, run: &mut Run) -> Result<(), ControlError> {
        let hosts = run.hosts().list().len() as u32;
        if let Some(most_ns) = self.max_skew_ns {
            run.repeat_above_skew(most_ns);
        }
        if self.quiet_phases {
            run.keep_phases_quiet();
        }
        match self.kind {
            MeasureKind::Once(slo) => {
                let phase = bounded(&self.options, hosts, slo);
                run.run_phase(phase).map(drop)
            }
            MeasureKind::Repeat(runs, slo) => {
                let phase = bounded(&self.options, hosts, slo);
                run.repeat(&phase, runs).map(drop)
            }
            MeasureKind::Find(bounds) => {
                let base = phase("search", &self.options, hosts);
                let plan = SearchPlan {
                    probe_ns: (base.duration_ns / 5).max(SHORTEST_PROBE_NS),
                    confirm_ns: base.duration_ns,
                    bounds,
                    max_probes: MAX_PROBES,
                    base,
                };
                run.search(&plan).map(drop)
            }
            MeasureKind::Knee(plan) => {
                let options = self.options;
                let phase_of = |users| {
                    let options = with_users(&options, &plan.range.option, users)?;
                    Ok(phase("knee", &options, hosts))
                };
                run.knee(&plan, &phase_of).map(drop)
            }
            MeasureKind::Versus(change, with) => {
                let without = phase("versus", &self.options, hosts);
                let with = phase("versus", &*with, hosts);
                let named = (change.option.as_str(), change.value.as_str());
                run.versus(named, &without, &with).map(drop)
            }
            MeasureKind::VersusKnob(change) => {
                let phase = phase("versus", &self.options, hosts);
                let of_target = change.option.strip_prefix(TARGET);
                let knob = of_target.or(change.setting()).unwrap_or_default();
                run.versus_knob((&change.option, knob, &change.value), &phase)
                    .map(drop)
            }
            MeasureKind::Sweep(option, varied) => {
                let steps = varied.into_iter().zip(1..);
                let steps = steps.map(|((value, options), number)| SweepStep {
                    phase: phase(&format!("sweep-{number}"), &options, hosts),
                    value,
                });
                let steps: Vec<SweepStep> = steps.collect();
                run.sweep(&option, steps).map(drop)
            }
        }
    }
}

/// True for a name or an address of this host itself.
pub fn is_here(server: &str) -> bool {
    let address = server.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<std::net::IpAddr>();
    server.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

/// A single measurement that must keep bounds.
fn bounded<O: Options>(options: &O, hosts: u32, slo: Option<Bounds>) -> PhasePlan {
    let mut phase = phase("measure", options, hosts);
    let bounds = slo.map(|slo| ("bounds".to_owned(), slo.to_string()));
    phase.labels.extend(bounds);
    phase
}

fn phase<O: Options>(name: &str, options: &O, hosts: u32) -> PhasePlan {
    let duration_ns = options.duration_ns();
    PhasePlan {
        name: name.into(),
        workload: O::NAME.into(),
        options: options.to_json(),
        flows: options.flows(hosts),
        duration_ns,
        bound_ns: bound_ns(duration_ns, [O::NAME]),
        labels: Labels::new(),
    }
}

#[cfg(test)]
mod tests {
    use sokudo_load_network::rr::RrOptions;

    use super::*;

    #[test]
    fn one_option_changes_and_the_others_stay() {
        let mut options = RrOptions::default();
        options.common.threads = 3;
        options.common.size = "128:4KiB".parse().unwrap();
        let varied = vary(&options, &"window=1,4".parse().unwrap()).unwrap();
        let changed = RrOptions {
            window: 4,
            ..options.clone()
        };
        assert_eq!(
            varied,
            [("1".into(), options.clone()), ("4".into(), changed)]
        );
        let rates = vary(&options, &"rate=1k..3k/s:2".parse().unwrap()).unwrap();
        let asked: Vec<_> = rates.iter().map(|(_, o)| o.common.rate).collect();
        assert_eq!(
            asked,
            [
                Some("1000/s".parse().unwrap()),
                Some("3000/s".parse().unwrap())
            ]
        );
    }

    #[test]
    fn values_are_checked_as_if_they_had_been_typed() {
        let options = RrOptions::default();
        for wrong in [
            "window=0,1",
            "rate=1k,2k,x/s",
            "size=0,64",
            "colour=red,blue",
            "find=a,b",
        ] {
            assert!(vary(&options, &wrong.parse().unwrap()).is_err(), "{wrong}");
        }
    }
}
