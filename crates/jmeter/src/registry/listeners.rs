//! Listeners: what they write and send. What they display has no effect; those that send a mail per result
//! are left out, with a warning.

use sokudo_model::Text;

use super::backend::backend;
use super::{ElementSpec, Family, Role, Treatment, element};
use crate::compile::ElementReader;
use crate::plan::{ListenerKind, ResponseFiles};

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
    element(
        &["Summariser"],
        Family::Listener,
        2,
        Role::Listener(|_| ListenerKind::Summary),
    ),
    element(
        &[
            "CorrectedResultCollector",
            "CompositeResultCollector",
            "FlushingResultCollector",
        ],
        Family::Listener,
        2,
        Role::Listener(graph),
    ),
    element(
        &["ResultSaver"],
        Family::Listener,
        3,
        Role::Listener(responses),
    ),
    element(
        &["MailerResultCollector", "FlexibleFileWriter"],
        Family::Listener,
        3,
        Role::LeftOut,
    ),
    element(
        &[
            "PerfMonCollector",
            "JMXMonCollector",
            "DbMonCollector",
            "LoadosophiaUploader",
            "ConsoleStatusLogger",
            "GraphsGeneratorListener",
        ],
        Family::Listener,
        3,
        Role::LeftOut,
    ),
    // It ends the test.
    element(
        &["AutoStop"],
        Family::Listener,
        3,
        Role::Refused(Treatment::NotSupported),
    ),
];

/// Properties for the looks of plug-ins' graphs, which are seen in the editor alone.
const GRAPH: &[&str] = &[
    "interval_grouping",
    "graph_aggregated",
    "include_sample_labels",
    "exclude_sample_labels",
    "include_checkbox_state",
    "exclude_checkbox_state",
    "start_offset",
    "end_offset",
    "prefix_label",
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

/// A listener that writes each response to a file of its own. What it can only know while the plan runs is
/// reported: a name with variables, and the variable that gets the name.
fn responses(reader: &mut ElementReader<'_, '_>) -> ListenerKind {
    /// Most digits that are filled up with zeros.
    const MOST_DIGITS: i64 = 100;
    let prefix = reader.text("FileSaver.filename");
    let variable = reader.text("FileSaver.variablename");
    let place = reader.place_of("FileSaver.filename");
    let prefix = match prefix.is_of_properties() && variable.is_empty() {
        true => reader.compiler.value_at_start(&prefix, &place),
        false => {
            let says = Text::new("jmx-responses-computed");
            reader.compiler.problems.warning(place, says);
            String::new()
        }
    };
    let digits = reader.start_integer("FileSaver.numberPadLen").unwrap_or(0);
    ListenerKind::Responses(ResponseFiles {
        prefix,
        errors_only: reader.start_flag("FileSaver.errorsonly", false),
        successes_only: reader.start_flag("FileSaver.successonly", false),
        skips_transactions: reader.start_flag("FileSaver.ignoreTC", true),
        skips_number: reader.start_flag("FileSaver.skipautonumber", false),
        skips_suffix: reader.start_flag("FileSaver.skipsuffix", false),
        has_time: reader.start_flag("FileSaver.addTimstamp", false),
        digits: digits.clamp(0, MOST_DIGITS) as u32,
    })
}

/// A listener of a plug-in that draws graphs: it writes its file as others do, always with the number of
/// users, and does nothing without one.
fn graph(reader: &mut ElementReader<'_, '_>) -> ListenerKind {
    reader.ignore(GRAPH);
    let mut kind = results(reader);
    if let ListenerKind::Results { file, format, .. } = &mut kind {
        if file.is_empty() {
            let place = reader.place.clone();
            let says = Text::new("jmx-graph-only");
            reader.compiler.problems.warning(place, says);
        }
        format.retain(|(name, _)| *name != "thread_counts");
        format.push(("thread_counts", true));
    }
    kind
}
