//! Listeners: what they write and send. What they display has no effect; those that write a file or a mail
//! per result are left out, with a warning.

use super::backend::backend;
use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::plan::ListenerKind;

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["ResultCollector"],
        Family::Listener,
        1,
        Role::Listener(results),
    ),
    element(
        &["BackendListener"],
        Family::Listener,
        2,
        Role::Listener(backend),
    ),
    element(&["Summariser"], Family::Listener, 2, Role::NoEffect),
    element(
        &["ResultSaver", "MailerResultCollector"],
        Family::Listener,
        3,
        Role::LeftOut,
    ),
];

/// Settings of a listener's rows, and the suffix of the property with the same meaning.
const FORMAT: &[(&str, &str)] = &[
    ("time", "time"),
    ("latency", "latency"),
    ("timestamp", "time_stamp"),
    ("success", "successful"),
    ("label", "label"),
    ("code", "response_code"),
    ("message", "response_message"),
    ("threadName", "thread_name"),
    ("dataType", "data_type"),
    ("encoding", "encoding"),
    ("assertions", "assertions"),
    ("subresults", "subresults"),
    ("responseData", "response_data"),
    ("samplerData", "samplerData"),
    ("xml", "xml"),
    ("fieldNames", "print_field_names"),
    ("responseHeaders", "responseHeaders"),
    ("requestHeaders", "requestHeaders"),
    ("responseDataOnError", "response_data.on_error"),
    (
        "saveAssertionResultsFailureMessage",
        "assertion_results_failure_message",
    ),
    ("bytes", "bytes"),
    ("sentBytes", "sent_bytes"),
    ("url", "url"),
    ("fileName", "filename"),
    ("hostname", "hostname"),
    ("threadCounts", "thread_counts"),
    ("sampleCount", "sample_count"),
    ("idleTime", "idle_time"),
    ("connectTime", "connect_time"),
];

fn results(reader: &mut ElementReader<'_, '_>) -> ListenerKind {
    let config = reader.object("saveConfig").and_then(|c| c.child("value"));
    let format = config.map_or_else(Vec::new, |config| {
        // A missing setting means not saved.
        let is_on = |name: &str| config.child(name).is_some_and(|e| e.text.trim() == "true");
        let each = FORMAT
            .iter()
            .map(|(name, property)| (*property, is_on(name)));
        each.collect()
    });
    ListenerKind::Results {
        file: reader.start_text("filename"),
        errors_only: reader.start_flag("ResultCollector.error_logging", false),
        successes_only: reader.start_flag("ResultCollector.success_only_logging", false),
        format,
    }
}
