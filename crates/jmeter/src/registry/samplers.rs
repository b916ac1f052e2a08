//! Samplers.

use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::expression::Template;
use crate::node::{ElementNode, PropertyValue, find};
use crate::plan::{Action, Dummy, FlowAction, JavaRequest, SamplerKind};

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
    element(&[JAVA], Family::Sampler, 3, Role::Sampler(java)),
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
        // What a plan leaves out is false or empty, as in the plug-in: plans of its first versions have no `WAITING`.
        waits: reader.flag("WAITING", false),
        success: reader.flag("SUCCESFULL", false),
        code: reader.text("RESPONSE_CODE"),
        message: reader.text("RESPONSE_MESSAGE"),
        request: reader.text("REQUEST_DATA"),
        response: reader.text("RESPONSE_DATA"),
        response_time_ms: reader.integer("RESPONSE_TIME", 0),
        latency_ms: reader.integer("LATENCY", 0),
        connect_ms: reader.integer("CONNECT", 0),
        url: reader.text("URL"),
    }))
}

/// The class of a Java request's element.
pub(super) const JAVA: &str = "JavaSampler";

/// The classes of Java requests that come with JMeter.
const JAVA_CLASSES: [&str; 2] = [
    "org.apache.jmeter.protocol.java.test.JavaTest",
    "org.apache.jmeter.protocol.java.test.SleepTest",
];

/// The class of a Java request that is not supported; `None`: the element is another kind of request.
pub(crate) fn foreign_class(node: &ElementNode) -> Option<String> {
    if node.class != JAVA {
        return None;
    }
    let class = match find(&node.properties, "classname").map(|property| &property.value) {
        Some(PropertyValue::Scalar { text, .. }) => text.trim(),
        _ => "",
    };
    (!JAVA_CLASSES.contains(&class)).then(|| class.to_owned())
}

/// A Java request of one of JMeter's own classes.
pub(crate) fn java(reader: &mut ElementReader<'_, '_>) -> SamplerKind {
    let class = reader.start_text("classname");
    let is_sleep_test = class.trim() == JAVA_CLASSES[1];
    let arguments = reader.inner("arguments", |inner| {
        inner.each("Arguments.arguments", |argument| {
            argument.ignore(&["Argument.metadata", "Argument.desc"]);
            (
                argument.start_text("Argument.name"),
                argument.text("Argument.value"),
            )
        })
    });
    let given = |name: &str| {
        // The request's own stand before those of its defaults.
        let mut all = arguments.iter();
        all.find(|(own, _)| own == name)
            .map(|(_, value)| value.clone())
    };
    let text = |name: &str| given(name).unwrap_or_else(|| Template::text(""));
    let (time, mask) = match is_sleep_test {
        true => ("SleepTime", "SleepMask"),
        false => ("Sleep_Time", "Sleep_Mask"),
    };
    SamplerKind::Java(Box::new(JavaRequest {
        is_sleep_test,
        sleep_time: given(time),
        sleep_mask: given(mask),
        label: text("Label"),
        code: text("ResponseCode"),
        message: text("ResponseMessage"),
        status: given("Status").unwrap_or_else(|| Template::text("OK")),
        request: text("SamplerData"),
        response: text("ResultData"),
    }))
}
