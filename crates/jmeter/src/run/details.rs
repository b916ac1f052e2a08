//! Details of a result that only some result files contain: headers, body, assertions.

use super::context::View;
use super::examine::Examined;
use super::row::Details;
use super::sample_result::SampleResult;
use crate::jtl::SavedDetails;

/// Details of the current sampler's result; `None` if no file contains any.
pub(super) fn result_details(
    view: &View<'_>,
    result: &SampleResult<'_>,
    examined: &Examined,
) -> Option<Box<Details>> {
    let holds = view.test().programs[view.thread.sampler() as usize].holds;
    if holds == SavedDetails::default() {
        return None;
    }
    let mut details = match holds.texts {
        true => Details {
            response_headers: result.headers.into(),
            response: result.text.into(),
            body: match holds.bodies {
                true => result.body.into(),
                false => Vec::new(),
            },
            ..request_details(result.sent, result.sent_head)
        },
        false => Details::default(),
    };
    if details.query.is_empty() && holds.texts {
        details.query = result.sampler_data.into();
    }
    details.assertions.clone_from(&examined.verdict.asserted);
    Some(Box::new(details))
}

/// Method, headers, cookies and body of a request, which JMeter shows separately.
pub(super) fn request_details(sent: &[u8], head_bytes: usize) -> Details {
    let mut details = Details::default();
    let (head, body) = sent.split_at_checked(head_bytes).unwrap_or((b"", b""));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    details.method = first.split(' ').next().unwrap_or_default().into();
    for line in lines.filter(|line| !line.is_empty()) {
        match line.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("Cookie") => {
                details.cookies = value.into();
            }
            _ => details.request_headers.extend([line, "\n"]),
        }
    }
    details.query = String::from_utf8_lossy(body).into_owned();
    details
}
