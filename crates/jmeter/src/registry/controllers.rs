//! Controllers.

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::plan::{ControllerKind, ThroughputLimit, Value};

const fn controller(
    classes: &'static [&'static str],
    tier: u8,
    read: fn(&mut ElementReader<'_, '_>) -> ControllerKind,
) -> ElementSpec {
    element(classes, Family::Controller, tier, Role::Controller(read))
}

pub(super) const ELEMENTS: &[ElementSpec] = &[
    controller(&["GenericController", "RecordingController"], 2, |_| {
        ControllerKind::Simple
    }),
    controller(&["LoopController"], 2, repeat),
    controller(&["TransactionController"], 2, transaction),
    controller(&["IfController"], 2, condition),
    controller(&["WhileController"], 2, while_true),
    controller(&["ForeachController"], 2, for_each),
    controller(&["OnceOnlyController"], 2, |_| ControllerKind::OnceOnly),
    controller(&["RandomController"], 2, |r| choose(r, true)),
    controller(&["ThroughputController"], 2, throughput),
    controller(&["InterleaveControl"], 3, |r| choose(r, false)),
    controller(&["SwitchController"], 3, switch),
    controller(&["RunTime"], 3, runtime),
    controller(&["RandomOrderController"], 3, |_| {
        ControllerKind::RandomOrder
    }),
    controller(&["CriticalSectionController"], 3, critical),
];

fn repeat(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let loops = reader.integer("LoopController.loops", 0);
    let again = reader.start_flag("LoopController.continue_forever", true);
    ControllerKind::Loop {
        loops,
        ends: !again,
    }
}

fn transaction(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    ControllerKind::Transaction {
        is_parent: reader.start_flag("TransactionController.parent", false),
        with_timers: reader.start_flag("TransactionController.includeTimers", true),
        assertions: Vec::new(),
        listeners: Vec::new(),
        handlers: Vec::new(),
    }
}

fn condition(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    ControllerKind::If {
        condition: reader.text("IfController.condition"),
        is_text: reader.start_flag("IfController.useExpression", false),
        before_each_step: reader.start_flag("IfController.evaluateAll", false),
    }
}

fn while_true(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let condition = reader.text("WhileController.condition");
    ControllerKind::While { condition }
}

fn for_each(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let output = reader.text("ForeachController.returnVal");
    reader.compiler.sets(&output);
    ControllerKind::ForEach {
        input: reader.text("ForeachController.inputVal"),
        output,
        separator: reader.start_flag("ForeachController.useSeparator", true),
        start: reader.integer("ForeachController.startIndex", 0),
        end: reader.integer_given("ForeachController.endIndex"),
    }
}

/// Style 0 steps into nested controllers, style 1 treats each as one step.
fn choose(reader: &mut ElementReader<'_, '_>, random: bool) -> ControllerKind {
    ControllerKind::Turns {
        random,
        whole: reader.start_integer("InterleaveControl.style").unwrap_or(0) != 0,
        across_users: reader.start_flag("InterleaveControl.accrossThreads", false),
    }
}

fn throughput(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let by_percent = reader
        .start_integer("ThroughputController.style")
        .unwrap_or(0)
        == 1;
    let percent = reader.decimal("ThroughputController.percentThroughput", 100.0);
    // An empty number is one, as a missing one.
    let total = reader.integer_if("ThroughputController.maxThroughput");
    let total = total.unwrap_or(Value::Fixed(1));
    ControllerKind::Throughput {
        limit: match by_percent {
            true => ThroughputLimit::Percent(percent),
            false => ThroughputLimit::Total(total),
        },
        per_user: reader.start_flag("ThroughputController.perThread", false),
    }
}

fn switch(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let selected = reader.text("SwitchController.value");
    ControllerKind::Switch { selected }
}

fn runtime(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let seconds = reader.integer("RunTime.seconds", 0);
    ControllerKind::Runtime { seconds }
}

fn critical(reader: &mut ElementReader<'_, '_>) -> ControllerKind {
    let lock = reader.text_or("CriticalSectionController.lockName", "global_lock");
    ControllerKind::CriticalSection { lock }
}
