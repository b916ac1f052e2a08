//! Samplers.

use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::plan::{Action, Dummy, FlowAction, SamplerKind};

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2"],
        Family::Sampler,
        1,
        Role::Http,
    ),
    element(&["DebugSampler"], Family::Sampler, 2, Role::Sampler(debug)),
    element(&["TestAction"], Family::Sampler, 2, Role::Sampler(action)),
    element(&["DummySampler"], Family::Sampler, 2, Role::Sampler(dummy)),
];

fn debug(reader: &mut ElementReader<'_, '_>) -> SamplerKind {
    SamplerKind::Debug {
        properties: reader.flag("displayJMeterProperties", false),
        variables: reader.flag("displayJMeterVariables", true),
        system: reader.flag("displaySystemProperties", false),
    }
}

fn action(reader: &mut ElementReader<'_, '_>) -> SamplerKind {
    const ACTION: &str = "ActionProcessor.action";
    let number = reader.start_integer(ACTION).unwrap_or(0);
    let whole_test = reader.start_integer("ActionProcessor.target").unwrap_or(0) == 2;
    let duration_ms = reader.integer("ActionProcessor.duration", 0);
    SamplerKind::Action(match (number, whole_test) {
        (0, false) => Action::Flow(FlowAction::StopUser),
        (0, true) => Action::Flow(FlowAction::StopTest),
        (1, _) => Action::Pause { duration_ms },
        (2, false) => Action::Flow(FlowAction::StopUser),
        (2, true) => Action::Flow(FlowAction::StopTestNow),
        (3, _) => Action::Flow(FlowAction::NextGroupLoop),
        (4, _) => Action::Flow(FlowAction::NextLoop),
        (5, _) => Action::Flow(FlowAction::BreakLoop),
        (other, _) => {
            let says = Text::new("jmx-unknown-word")
                .word("property", ACTION)
                .word("word", other.to_string())
                .word("known", "0 … 5");
            let place = reader.place_of(ACTION);
            reader.compiler.problems.error(place, says);
            Action::Flow(FlowAction::StopUser)
        }
    })
}

fn dummy(reader: &mut ElementReader<'_, '_>) -> SamplerKind {
    reader.ignore(&["RESULT_CLASS"]);
    SamplerKind::Dummy(Box::new(Dummy {
        waits: reader.flag("WAITING", true),
        success: reader.flag("SUCCESFULL", true),
        code: reader.text_or("RESPONSE_CODE", "200"),
        message: reader.text_or("RESPONSE_MESSAGE", "OK"),
        request: reader.text("REQUEST_DATA"),
        response: reader.text("RESPONSE_DATA"),
        response_time_ms: reader.integer("RESPONSE_TIME", 0),
        latency_ms: reader.integer("LATENCY", 0),
        connect_ms: reader.integer("CONNECT", 0),
        url: reader.text("URL"),
    }))
}
