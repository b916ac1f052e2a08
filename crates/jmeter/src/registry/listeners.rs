//! Listeners. What they show is the report's business; what they write and save matters.

use super::{ElementSpec, Family, Role, element};
use crate::compile::Reader;
use crate::plan::{ListenerKind, Saved};

/// Sends results on to a database of time series.
pub(crate) const BACKEND: &str = "BackendListener";

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["ResultCollector"],
        Family::Listener,
        1,
        Role::Listener(results),
    ),
    element(&[BACKEND], Family::Listener, 2, Role::NoEffect),
    element(&["Summariser"], Family::Listener, 2, Role::NoEffect),
    element(
        &["ResultSaver", "MailerResultCollector"],
        Family::Listener,
        3,
        Role::NoEffect,
    ),
];

fn results(reader: &mut Reader<'_, '_>) -> ListenerKind {
    const SAVED: &[(&str, Saved)] = &[
        ("responseData", Saved::ResponseData),
        ("responseDataOnError", Saved::ResponseDataOnError),
        ("samplerData", Saved::SamplerData),
        ("responseHeaders", Saved::ResponseHeaders),
        ("requestHeaders", Saved::RequestHeaders),
    ];
    let config = reader.object("saveConfig").and_then(|c| c.child("value"));
    let is_on = |name: &str| {
        let found = config.and_then(|config| config.child(name));
        found.is_some_and(|element| element.text.trim() == "true")
    };
    let saves = SAVED.iter().filter(|(name, _)| is_on(name));
    let (xml, saves) = (is_on("xml"), saves.map(|(_, saved)| *saved).collect());
    ListenerKind::Results {
        file: reader.start_text("filename"),
        errors_only: reader.start_flag("ResultCollector.error_logging", false),
        successes_only: reader.start_flag("ResultCollector.success_only_logging", false),
        xml,
        saves,
    }
}
