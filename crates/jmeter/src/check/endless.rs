//! Thread groups that never end by themselves.
//!
//! A plan without window ends when its users do. JMeter executes one that loops forever until someone
//! stops it, which is easily overlooked in a plan that was made in the editor.

use sokudo_model::Text;

use super::{controllers, samplers};
use crate::compile::Compiler;
use crate::plan::{
    Action, AssertionKind, ConfigKind, Controller, ControllerKind, FlowAction, Group, Id,
    IterationStep, ListenerKind, Loops, Named, OnError, Plan, PostKind, PreKind, Sampler,
    SamplerKind, Script, Step, TimerKind, Value,
};

/// Warns about groups and loops inside them that nothing in the plan ends.
pub(super) fn warn(plan: &Plan, compiler: &mut Compiler<'_>) {
    let stops_test = |action| matches!(action, FlowAction::StopTest | FlowAction::StopTestNow);
    let all_stop = (plan.samplers.iter()).any(|sampler| flow(sampler).is_some_and(stops_test));
    for group in plan.groups.iter().filter(|_| !all_stop) {
        let never_starts = group.body.is_empty() || group.load.users() == Some(0);
        if never_starts || group.load.end_ms().is_some() || is_ended(plan, group) {
            continue;
        }
        let (key, place, name) = match group.load.loops() == Some(Loops::Forever) {
            true => ("jmx-endless", &group.place, group.name.clone()),
            false => match endless_loop(plan, group) {
                Some(inner) => ("jmx-endless-loop", &inner.place, inner.name.to_string()),
                None => continue,
            },
        };
        let ends = match group.on_error {
            OnError::Continue | OnError::StartNextLoop => "no",
            OnError::StopThread | OnError::StopTest | OnError::StopTestNow => "failure",
        };
        let says = Text::new(key).word("name", name).word("ends", ends);
        let hint = Text::new(match key {
            "jmx-endless" => "jmx-endless-hint",
            _ => "jmx-endless-loop-hint",
        });
        compiler.problems.warning_with(place.clone(), says, hint);
    }
}

/// True if an element of the group ends its users: a flow control action, the end of a data file, or a
/// script that may.
fn is_ended(plan: &Plan, group: &Group) -> bool {
    let inner = controllers(&group.body);
    let steps = inner
        .iter()
        .flat_map(|controller| &controller.per_iteration);
    let data_ends = group.per_iteration.iter().chain(steps).any(|step| {
        let IterationStep::Config(id) = step else {
            return false;
        };
        let config = &plan.configs[*id as usize];
        matches!(&config.kind, ConfigKind::CsvData(data) if data.stops_user && !data.recycles)
    });
    data_ends
        || samplers(&group.body).into_iter().any(|id| {
            let sampler = &plan.samplers[id as usize];
            flow(sampler) == Some(FlowAction::StopUser) || scripts(plan, sampler).any(may_stop)
        })
}

/// A loop of the group without end that no flow control action leaves.
fn endless_loop<'p>(plan: &'p Plan, group: &'p Group) -> Option<&'p Controller> {
    let is_left = |id: Id| {
        let action = flow(&plan.samplers[id as usize]);
        !matches!(
            action,
            None | Some(FlowAction::Continue | FlowAction::NextLoop)
        )
    };
    // A runtime controller ends what is in it.
    let mut open: Vec<_> = group.body.iter().collect();
    while let Some(step) = open.pop() {
        let Step::Controller(controller) = step else {
            continue;
        };
        let below = samplers(&controller.body);
        if repeats_forever(controller) && !below.is_empty() && !below.into_iter().any(is_left) {
            return Some(controller);
        }
        if !matches!(controller.kind, ControllerKind::Runtime { .. }) {
            open.extend(&controller.body);
        }
    }
    None
}

/// True for a loop without limit, and for a while loop whose condition always holds.
fn repeats_forever(controller: &Controller) -> bool {
    match &controller.kind {
        ControllerKind::Loop { loops, .. } => {
            matches!(loops, Value::Fixed(count) if *count < 0)
        }
        ControllerKind::While { condition } => condition
            .constant()
            .is_some_and(|text| text.trim().eq_ignore_ascii_case("true")),
        _ => false,
    }
}

/// Effect of a flow control action; `None`: the sampler is of another kind.
fn flow(sampler: &Sampler) -> Option<FlowAction> {
    match &sampler.kind {
        SamplerKind::Action(Action::Flow(action)) => Some(*action),
        _ => None,
    }
}

/// The scripts of a sampler and of what acts on it.
fn scripts<'p>(plan: &'p Plan, sampler: &'p Sampler) -> impl Iterator<Item = &'p Script> {
    let scope = &sampler.scope;
    let own = match &sampler.kind {
        SamplerKind::Script(script) => Some(script),
        _ => None,
    };
    let pre = kinds(&plan.pre_processors, &scope.pre_processors).filter_map(|kind| match kind {
        PreKind::Script(script) => Some(script),
        _ => None,
    });
    let post = kinds(&plan.post_processors, &scope.post_processors).filter_map(|kind| match kind {
        PostKind::Script(script) => Some(script),
        _ => None,
    });
    let timers = kinds(&plan.timers, &scope.timers).filter_map(|kind| match kind {
        TimerKind::Script(script) => Some(script),
        _ => None,
    });
    let assertions = kinds(&plan.assertions, &scope.assertions).filter_map(|kind| match kind {
        AssertionKind::Script(script) => Some(script),
        _ => None,
    });
    let listeners = kinds(&plan.listeners, &scope.listeners).filter_map(|kind| match kind {
        ListenerKind::Script(script) => Some(script),
        _ => None,
    });
    own.into_iter()
        .chain(pre)
        .chain(post)
        .chain(timers)
        .chain(assertions)
        .chain(listeners)
}

fn kinds<'p, K>(all: &'p [Named<K>], ids: &'p [Id]) -> impl Iterator<Item = &'p K> {
    ids.iter().map(|id| &all[*id as usize].kind)
}

/// True if a script names one of the calls that end a user or the test: all of them contain this word.
fn may_stop(script: &Script) -> bool {
    script
        .text
        .to_string()
        .to_ascii_lowercase()
        .contains("stop")
}

#[cfg(test)]
mod tests {
    use crate::files::MemoryFiles;
    use crate::read;
    use crate::settings::Settings;

    /// The keys of the warnings about ends, and who ends the users otherwise, of a plan with one group.
    fn told(group: &str, inside: &str) -> Vec<String> {
        let http = "<HTTPSamplerProxy testname='s'><stringProp name='HTTPSampler.domain'>h</stringProp></HTTPSamplerProxy><hashTree/>";
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname='P'/><hashTree><ThreadGroup testname='G'><stringProp name='ThreadGroup.num_threads'>1</stringProp>{group}</ThreadGroup><hashTree>{http}{inside}</hashTree></hashTree></hashTree></jmeterTestPlan>"
        );
        let files = MemoryFiles([("d.csv".to_owned(), b"a\n".to_vec())].into());
        let reading = read("p.jmx", text.as_bytes(), &Settings::default(), &files);
        assert!(reading.plan.is_some(), "{:?}", reading.problems);
        let about = |key: &&str| key.starts_with("jmx-endless");
        let keys = reading.problems.iter().map(|problem| problem.key());
        keys.filter(about).map(str::to_owned).collect()
    }

    fn loops(count: i64) -> String {
        format!(
            "<elementProp name='ThreadGroup.main_controller'><boolProp name='LoopController.continue_forever'>false</boolProp><intProp name='LoopController.loops'>{count}</intProp></elementProp>"
        )
    }

    fn action(number: u32, target: u32) -> String {
        format!(
            "<TestAction testname='a'><intProp name='ActionProcessor.action'>{number}</intProp><intProp name='ActionProcessor.target'>{target}</intProp></TestAction><hashTree/>"
        )
    }

    #[test]
    fn groups_without_end_are_told_unless_something_ends_them() {
        let scheduled = "<boolProp name='ThreadGroup.scheduler'>true</boolProp><stringProp name='ThreadGroup.duration'>5</stringProp>";
        let data = |recycles: bool| {
            format!(
                "<CSVDataSet testname='d'><stringProp name='filename'>d.csv</stringProp><stringProp name='variableNames'>u</stringProp><boolProp name='recycle'>{recycles}</boolProp><boolProp name='stopThread'>true</boolProp></CSVDataSet><hashTree/>"
            )
        };
        let script = |text: &str| {
            format!(
                "<JSR223Sampler testname='j'><stringProp name='scriptLanguage'>groovy</stringProp><stringProp name='script'>{text}</stringProp></JSR223Sampler><hashTree/>"
            )
        };
        let forever = loops(-1);
        let endless = ["jmx-endless"];
        assert_eq!(told(&forever, ""), endless);
        assert_eq!(told(&forever, &action(1, 0)), endless);
        assert_eq!(told(&forever, &data(true)), endless);
        assert_eq!(told(&forever, &script("vars.put('a', 'b')")), endless);
        for (group, inside) in [
            (loops(3), String::new()),
            (format!("{forever}{scheduled}"), String::new()),
            (forever.clone(), action(0, 0)),
            (forever.clone(), action(2, 2)),
            (forever.clone(), data(false)),
            (forever.clone(), script("ctx.getEngine().stopTest()")),
        ] {
            assert_eq!(told(&group, &inside), [""; 0], "{group} {inside}");
        }
    }

    #[test]
    fn loops_inside_that_are_never_left_are_told() {
        let request = "<HTTPSamplerProxy testname='s'><stringProp name='HTTPSampler.domain'>h</stringProp></HTTPSamplerProxy><hashTree/>";
        let wrapped = |inside: &str| {
            format!(
                "<LoopController testname='L'><boolProp name='LoopController.continue_forever'>true</boolProp><intProp name='LoopController.loops'>-1</intProp></LoopController><hashTree>{request}{inside}</hashTree>"
            )
        };
        let condition = |text: &str| {
            format!(
                "<WhileController testname='W'><stringProp name='WhileController.condition'>{text}</stringProp></WhileController><hashTree>{request}</hashTree>"
            )
        };
        let runtime = |inside: &str| {
            format!(
                "<RunTime testname='R'><stringProp name='RunTime.seconds'>1</stringProp></RunTime><hashTree>{inside}</hashTree>"
            )
        };
        let once = loops(1);
        assert_eq!(told(&once, &wrapped("")), ["jmx-endless-loop"]);
        assert_eq!(told(&once, &wrapped(&action(4, 0))), ["jmx-endless-loop"]);
        assert_eq!(told(&once, &condition("true")), ["jmx-endless-loop"]);
        assert_eq!(told(&once, &wrapped(&action(5, 0))), [""; 0]);
        assert_eq!(told(&once, &runtime(&wrapped(""))), [""; 0]);
        assert_eq!(told(&once, &condition("${more}")), [""; 0]);
    }
}
