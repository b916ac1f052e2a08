//! A link of the previous response as the next request: JMeter's HTML Link Parser.
//!
//! ```text
//! previous page ─► links, forms, frames ─► those that the request of the plan matches ─► one of them, drawn
//! ```
//!
//! The request of the plan is a pattern: protocol, host and path are regular expressions, its arguments have to
//! be in the link. A link replaces path and arguments; a form fills the arguments that it has a field for.

use super::address::Address;
use super::context::View;
use super::link::scheme;
use super::rewriting::{add, decoded};
use super::test::Test;
use crate::document::{Document, NodeId, NodeKind};
use crate::expression::Template;
use crate::script::LentRequest;

/// A request that the page offers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offer {
    to: Address,
    /// Fields of a form; `None`: it is a link.
    fields: Option<Vec<(String, String)>>,
}

/// The request of the plan as a pattern.
struct Wanted {
    protocol: String,
    domain: String,
    path: String,
    arguments: Vec<(String, String)>,
}

/// Changes the request of the current sampler to one that the previous response offers, if any matches.
pub(super) fn follow(view: &mut View<'_>) {
    let (test, sampler) = (view.test(), view.thread.sampler());
    let Some(mut lent) = view.thread.requests.lend(test, sampler) else {
        return;
    };
    let previous = view.thread.previous();
    let Some((at, text)) =
        previous.and_then(|it| Some((Address::parse(&it.url)?, it.text.clone())))
    else {
        return;
    };
    let page = match Document::html(&text[text.find('<').unwrap_or(0)..]) {
        Ok(page) => page,
        Err(why) => return test.sink.trouble(&why),
    };
    let wanted = wanted(view, &lent);
    let mut fitting = Vec::new();
    for offer in offers(&page, &at) {
        match matches(test, &offer, &wanted) {
            Ok(true) => fitting.push(offer),
            Ok(false) => {}
            Err(why) => return test.sink.trouble(&why),
        }
    }
    if fitting.is_empty() {
        return;
    }
    let drawn = view.thread.random().below(fitting.len() as u64);
    let offer = fitting.swap_remove(drawn as usize);
    let (path, query) = offer.path_and_query();
    lent.is_changed = true;
    lent.request.domain = Template::text(offer.to.host.as_str());
    lent.request.path = Template::text(path);
    lent.request.protocol = Template::text(offer.protocol());
    match &offer.fields {
        Some(fields) => fill(view, &mut lent, fields.clone(), &wanted),
        None => {
            lent.request.arguments.clear();
            lent.arguments.clear();
            lent.has_own_arguments = false;
            add_written(&mut lent, query);
        }
    }
    view.thread.requests.take_back(test, sampler, lent);
}

/// Adds the arguments of a link as they are written.
fn add_written(lent: &mut LentRequest, query: &str) {
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, sign, value) = match pair.split_once('=') {
            Some((name, value)) => (name, "=", value),
            None => (pair, "", ""),
        };
        add(lent, (name.to_owned(), value.to_owned()), false, sign);
    }
}

fn wanted(view: &mut View<'_>, lent: &LentRequest) -> Wanted {
    let request = &lent.request;
    let arguments = request.arguments.iter();
    Wanted {
        protocol: view.text(&request.protocol),
        domain: view.text(&request.domain),
        path: view.text(&request.path).replace(' ', "%20"),
        arguments: arguments
            .map(|argument| (view.text(&argument.name), view.text(&argument.value)))
            .collect(),
    }
}

/// Gives each argument name and value of a field that it matches, each field once.
fn fill(
    view: &mut View<'_>,
    lent: &mut LentRequest,
    mut fields: Vec<(String, String)>,
    wanted: &Wanted,
) {
    let test = view.test();
    let patterns = wanted.arguments.iter();
    for (argument, (name, value)) in lent.request.arguments.iter_mut().zip(patterns) {
        let fits = |field: &(String, String)| {
            is_or_matches(test, &field.0, name).unwrap_or(false)
                && is_or_matches(test, &field.1, value).unwrap_or(false)
        };
        let numbers: Vec<usize> = (0..fields.len()).filter(|i| fits(&fields[*i])).collect();
        if numbers.is_empty() {
            continue;
        }
        let drawn = view.thread.random().below(numbers.len() as u64);
        let (name, value) = fields.remove(numbers[drawn as usize]);
        (argument.name, argument.value) = (Template::text(name), Template::text(value));
    }
}

/// True if a request of the page is one that the plan means. Fails if a pattern is not valid.
fn matches(test: &Test, offer: &Offer, wanted: &Wanted) -> Result<bool, String> {
    let (path, query) = offer.path_and_query();
    let query = match &offer.fields {
        None => decoded(query),
        Some(fields) => {
            let pairs = fields.iter().map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join("&")
        }
    };
    if !is_or_matches(test, offer.protocol(), &wanted.protocol)? {
        return Ok(false);
    }
    if !wanted.domain.is_empty() && !is_or_matches(test, &offer.to.host, &wanted.domain)? {
        return Ok(false);
    }
    if path != wanted.path && !is_or_matches(test, path, &format!("[/]*{}", wanted.path))? {
        return Ok(false);
    }
    for (name, _) in &wanted.arguments {
        let is_there = query.contains(&format!("{name}="));
        if !is_there && !test.pattern(name)?.is_match(&query).unwrap_or(false) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_or_matches(test: &Test, text: &str, pattern: &str) -> Result<bool, String> {
    Ok(text == pattern || test.matches_whole(pattern, text)?)
}

impl Offer {
    fn protocol(&self) -> &'static str {
        if self.to.tls { "https" } else { "http" }
    }

    fn path_and_query(&self) -> (&str, &str) {
        let path = self.to.path.split('#').next().unwrap_or_default();
        path.split_once('?').unwrap_or((path, ""))
    }
}

/// All requests of a page in JMeter's order: links, forms, frames.
fn offers(page: &Document, at: &Address) -> Vec<Offer> {
    let base = elements(page, "base").find_map(|id| attribute(page, id, "href"));
    let base = base.and_then(|base| target(at, base));
    let base = base.as_ref().unwrap_or(at);
    let links = |tag, name| {
        let urls = elements(page, tag).filter_map(move |id| attribute(page, id, name));
        let targets = urls.filter_map(|url| target(base, url));
        targets.map(|to| Offer { to, fields: None })
    };
    let mut all: Vec<Offer> = links("a", "href").collect();
    all.extend(forms(page, at));
    all.extend(links("frame", "src"));
    all
}

/// The forms of a page with their fields. As in JMeter, every option of a list is a field, and a form without
/// `action` is not sent.
fn forms(page: &Document, at: &Address) -> Vec<Offer> {
    let sent = elements(page, "form").filter_map(|form| {
        let to = target(at, attribute(page, form, "action")?)?;
        Some((form, to))
    });
    let of = |(form, to)| Offer {
        to,
        fields: Some(fields(page, form)),
    };
    sent.map(of).collect()
}

/// Names and values of the fields below a form, in document order.
fn fields(page: &Document, form: NodeId) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let children = |id: NodeId| page.node(id).children.iter().rev().copied();
    let own = |id, name| attribute(page, id, name).unwrap_or_default();
    // Nodes to be read, each with the name of the list around it; the next one is last.
    let mut open: Vec<(NodeId, &str)> = children(form).map(|id| (id, "")).collect();
    while let Some((id, mut list)) = open.pop() {
        let NodeKind::Element(name) = &page.node(id).kind else {
            continue;
        };
        match name.local.as_str() {
            "select" => list = own(id, "name"),
            "input" => found.push((own(id, "name").to_owned(), own(id, "value").to_owned())),
            "textarea" => {
                let text = page.first_text(id).unwrap_or_default();
                found.push((own(id, "name").to_owned(), text));
            }
            "option" => {
                let value = attribute(page, id, "value").map(str::to_owned);
                let value = value.or_else(|| page.first_text(id));
                found.push((list.to_owned(), value.unwrap_or_default()));
            }
            _ => {}
        }
        open.extend(children(id).map(|child| (child, list)));
    }
    found
}

/// The target of a link that HTTP can request.
fn target(base: &Address, url: &str) -> Option<Address> {
    let url = url.split('#').next().unwrap_or_default();
    match scheme(url) {
        None => base.join(url),
        Some((name, rest)) if rest.starts_with("//") && is_http(name) => base.join(url),
        Some(_) => None,
    }
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

fn elements<'d>(page: &'d Document, tag: &'d str) -> impl Iterator<Item = NodeId> + 'd {
    page.ids().filter(
        move |id| matches!(&page.node(*id).kind, NodeKind::Element(name) if name.local == tag),
    )
}

fn attribute<'d>(page: &'d Document, id: NodeId, wanted: &str) -> Option<&'d str> {
    let attributes = page.node(id).attributes.iter();
    attributes
        .filter_map(|id| match &page.node(*id).kind {
            NodeKind::Attribute(name, value) => Some((name, value)),
            _ => None,
        })
        .find(|(name, _)| name.local == wanted)
        .map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> Address {
        Address::parse("http://a.example/in/page.html?x=1").expect("a URL")
    }

    fn shown(page: &str) -> Vec<String> {
        let page = Document::html(page).expect("a page");
        let all = offers(&page, &at()).into_iter();
        all.map(|offer| {
            let fields = offer.fields.iter().flatten();
            let fields: Vec<_> = fields
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{}{} {}", offer.to.host, offer.to.path, fields.join(" "))
        })
        .collect()
    }

    #[test]
    fn links_forms_and_frames_are_offered() {
        let page = "<a href='b?y=2#z'>b</a><a href='mailto:x@y'>m</a><a href='javascript:f()'>j</a><a>n</a>\
             <form action='/send'><input name=i value=1><select name=s><option value=o1>x<option>o2</select>\
             <textarea name=t>text</textarea></form><input name=behind value=2>\
             <form><input name=lost></form><a href='https://b.example/c'>c</a>";
        assert_eq!(
            shown(page),
            [
                "a.example/in/b?y=2 ",
                "b.example/c ",
                "a.example/send i=1 s=o1 s=o2 t=text",
            ]
        );
        let framed =
            "<html><head><base href='/base/'></head><frameset><frame src='f'></frameset></html>";
        assert_eq!(shown(framed), ["a.example/base/f "]);
    }
}
