//! The request of the current HTTP sampler as scripts read and change it.
//!
//! ```text
//! describe ─► number of arguments and headers
//! get, argument, header ─► one text, rendered when it is asked for
//! change ─► what the script left, once it has ended
//! ```
//!
//! Texts that a script does not set stay templates: as in JMeter they are rendered again for each reader.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::json;
use sokudo_pace::Random;

use super::{LentState, bindings, remove_fixed};
use crate::expression::{Fact, Lines, Template, World};
use crate::plan::{HttpArgument, HttpHeader, HttpRequest, Id, Value};
use crate::properties::Origin;

/// The request of the current sampler, lent to a script.
#[derive(Debug, Clone)]
pub struct LentRequest {
    /// The request with the changes of the scripts before.
    pub request: HttpRequest,
    /// Number in the plan of each argument; `None`: a script added it for this sample.
    pub arguments: Vec<Option<u32>>,
    /// Number of each header in its manager; `None`: a script added it.
    pub headers: Vec<Option<u32>>,
    /// The manager that the headers belong to, whose changes last; `None`: they end with the sample.
    pub manager: Option<Id>,
    /// True if there is a header manager.
    pub is_managed: bool,
    /// True if the arguments are those of the plan, whose removal lasts.
    pub has_own_arguments: bool,
    /// True if a script changed it.
    pub is_changed: bool,
    /// Names that expressions read.
    pub names: RunNames,
}

/// Names of the run that expressions read.
#[derive(Debug, Default, Clone)]
pub struct RunNames {
    /// File name of the plan.
    pub plan: String,
    /// Name of this host.
    pub host: String,
    /// Address of this host.
    pub address: String,
}

/// Changes of a script to the request.
#[derive(Debug, Deserialize)]
struct Change {
    /// Texts by their name.
    fields: std::collections::BTreeMap<String, String>,
    /// `None`: not touched.
    arguments: Option<List<ChangedArgument>>,
    headers: Option<List<ChangedHeader>>,
}

/// A list that a script left.
#[derive(Debug, Deserialize)]
struct List<T> {
    /// True if the script set another list in place of the plan's.
    is_replaced: bool,
    items: Vec<T>,
}

#[derive(Debug, Deserialize)]
struct ChangedArgument {
    /// Its place in the list before; `None`: new.
    from: Option<usize>,
    is_own: bool,
    name: Option<String>,
    value: Option<String>,
    encode: Option<bool>,
    separator: Option<String>,
    content_type: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ChangedHeader {
    from: Option<usize>,
    is_own: bool,
    name: Option<String>,
    value: Option<String>,
}

impl LentRequest {
    /// Number of arguments and headers; headers are missing where there is no manager.
    pub(super) fn describe(&self) -> String {
        let headers = self.is_managed.then_some(self.headers.len());
        json!({ "arguments": self.arguments.len(), "headers": headers }).to_string()
    }

    /// The template that a script asks for: `domain`, `argument 0 name`, `header 1 value`.
    fn template(&self, what: &str) -> Option<Template> {
        let mut words = what.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let (list, index, part) = (next(), next().parse::<usize>(), next());
        let flag = |value: &Value<bool>| match value {
            Value::Fixed(value) => Template::text(value.to_string()),
            Value::Live(template) => template.clone(),
        };
        let number = |value: &Value<i64>| match value {
            Value::Fixed(value) => Template::text(value.to_string()),
            Value::Live(template) => template.clone(),
        };
        let request = &self.request;
        Some(match list {
            "argument" => {
                let argument = request.arguments.get(index.ok()?)?;
                match part {
                    "name" => argument.name.clone(),
                    "value" => argument.value.clone(),
                    "encode" => flag(&argument.encode),
                    "separator" => Template::text(argument.separator.as_str()),
                    "type" => argument.content_type.clone(),
                    _ => return None,
                }
            }
            "header" => {
                let header = request.headers.get(index.ok()?)?;
                match part {
                    "name" => header.name.clone(),
                    "value" => header.value.clone(),
                    _ => return None,
                }
            }
            "protocol" => request.protocol.clone(),
            "domain" => request.domain.clone(),
            "port" => request.port.clone(),
            "path" => request.path.clone(),
            "method" => request.method.clone(),
            "encoding" => request.encoding.clone(),
            "raw" => flag(&request.raw_body),
            "follow" => flag(&request.follow_redirects),
            "auto" => flag(&request.auto_redirects),
            "keep" => flag(&request.keep_alive),
            "multipart" => flag(&request.multipart),
            "connect" => number(&request.connect_timeout_ms),
            "response" => number(&request.response_timeout_ms),
            _ => return None,
        })
    }

    /// Takes over what a script left; `None`: that is not to be understood.
    pub(super) fn change(&mut self, left: &str) -> Option<()> {
        let change: Change = serde_json::from_str(left).ok()?;
        self.is_changed = true;
        for (name, text) in &change.fields {
            self.set(name, text)?;
        }
        if let Some(list) = change.arguments {
            self.has_own_arguments &= !list.is_replaced;
            let (arguments, numbers) = self.changed_arguments(list)?;
            (self.request.arguments, self.arguments) = (arguments, numbers);
        }
        if let Some(list) = change.headers {
            if list.is_replaced {
                self.manager = None;
            }
            self.is_managed = true;
            let (headers, numbers) = self.changed_headers(list)?;
            (self.request.headers, self.headers) = (headers, numbers);
        }
        Some(())
    }

    fn set(&mut self, name: &str, text: &str) -> Option<()> {
        let request = &mut self.request;
        let template = match name {
            "protocol" => &mut request.protocol,
            "domain" => &mut request.domain,
            "port" => &mut request.port,
            "path" => &mut request.path,
            "method" => &mut request.method,
            "encoding" => &mut request.encoding,
            "connect" => {
                request.connect_timeout_ms = Value::Fixed(text.trim().parse().unwrap_or(0));
                return Some(());
            }
            "response" => {
                request.response_timeout_ms = Value::Fixed(text.trim().parse().unwrap_or(0));
                return Some(());
            }
            _ => {
                let flag = match name {
                    "raw" => &mut request.raw_body,
                    "follow" => &mut request.follow_redirects,
                    "auto" => &mut request.auto_redirects,
                    "keep" => &mut request.keep_alive,
                    "multipart" => &mut request.multipart,
                    _ => return None,
                };
                *flag = Value::Fixed(text == "true");
                return Some(());
            }
        };
        *template = Template::text(text);
        Some(())
    }

    fn changed_arguments(
        &self,
        list: List<ChangedArgument>,
    ) -> Option<(Vec<HttpArgument>, Vec<Option<u32>>)> {
        let mut numbers = Vec::new();
        let mut arguments = Vec::new();
        for item in list.items {
            let mut argument = match item.from {
                Some(from) => self.request.arguments.get(from)?.clone(),
                None => HttpArgument {
                    name: Template::default(),
                    value: Template::default(),
                    encode: Value::Fixed(false),
                    separator: "=".into(),
                    content_type: Template::text("text/plain"),
                },
            };
            replace(&mut argument.name, item.name);
            replace(&mut argument.value, item.value);
            replace(&mut argument.content_type, item.content_type);
            argument.separator = item.separator.unwrap_or(argument.separator);
            argument.encode = item.encode.map_or(argument.encode, Value::Fixed);
            let own = item.from.filter(|_| item.is_own && !list.is_replaced);
            numbers.push(own.and_then(|from| self.arguments.get(from).copied().flatten()));
            arguments.push(argument);
        }
        Some((arguments, numbers))
    }

    fn changed_headers(
        &self,
        list: List<ChangedHeader>,
    ) -> Option<(Vec<HttpHeader>, Vec<Option<u32>>)> {
        let mut numbers = Vec::new();
        let mut headers = Vec::new();
        for item in list.items {
            let mut header = match item.from {
                Some(from) => self.request.headers.get(from)?.clone(),
                None => HttpHeader::default(),
            };
            replace(&mut header.name, item.name);
            replace(&mut header.value, item.value);
            let own = item.from.filter(|_| item.is_own);
            numbers.push(own.and_then(|from| self.headers.get(from).copied().flatten()));
            headers.push(header);
        }
        Some((headers, numbers))
    }
}

/// Sets a text that a script has set.
fn replace(template: &mut Template, text: Option<String>) {
    if let Some(text) = text {
        *template = Template::text(text);
    }
}

/// The text of a part of the request, after `=`; or after `!` why a script cannot have it.
pub(super) fn rendered(lent: &mut LentState, what: &str) -> Option<String> {
    let request = lent.request.take()?;
    let template = request.template(what);
    let mut out = "=".to_owned();
    let mut world = LentWorld {
        lent,
        names: &request.names,
        is_refused: false,
    };
    let fault = match &template {
        Some(template) => template.render(&mut world, &mut out).err(),
        None => return None,
    };
    let is_refused = world.is_refused || fault.is_some();
    lent.request = Some(request);
    Some(match is_refused {
        true => "!an expression of the sampler".into(),
        false => out,
    })
}

/// Lent state as the world of templates. What belongs to the whole test is out of its reach.
struct LentWorld<'a> {
    lent: &'a mut LentState,
    names: &'a RunNames,
    is_refused: bool,
}

impl LentWorld<'_> {
    fn refuse(&mut self) -> String {
        self.is_refused = true;
        "a script cannot have it".into()
    }
}

impl World for LentWorld<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        let own = self.lent.variables.get(name);
        own.or_else(|| self.lent.fixed.get(name))
            .map(String::as_str)
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.lent.variables.insert(name.into(), value.into());
    }

    fn remove_variable(&mut self, name: &str) {
        self.lent.variables.remove(name);
        remove_fixed(&mut self.lent.fixed, name);
    }

    fn write_property(&self, name: &str, out: &mut String) -> bool {
        let properties = self.lent.properties.read();
        let properties = properties.unwrap_or_else(PoisonError::into_inner);
        let value = properties.get(name);
        out.push_str(value.unwrap_or_default());
        value.is_some()
    }

    fn set_property(&mut self, name: &str, value: &str) {
        let properties = self.lent.properties.write();
        let mut properties = properties.unwrap_or_else(PoisonError::into_inner);
        properties.set(name, value, Origin::CommandLine);
    }

    fn random(&mut self) -> &mut Random {
        &mut self.lent.random
    }

    fn now_ms(&self) -> i64 {
        self.lent.now_ms
    }

    fn time_zone(&self) -> &TimeZone {
        &self.lent.time_zone
    }

    fn write_fact(&self, fact: Fact, out: &mut String) {
        let lent = &self.lent;
        match fact {
            Fact::UserNumber => out.push_str(&lent.thread_number.to_string()),
            Fact::Iteration => out.push_str(&lent.iteration.to_string()),
            Fact::UserName => out.push_str(&lent.thread_name),
            Fact::GroupName => out.push_str(bindings::group_name(&lent.thread_name)),
            Fact::SamplerName => out.push_str(&lent.sampler),
            Fact::PlanName => out.push_str(&self.names.plan),
            Fact::HostName => out.push_str(&self.names.host),
            Fact::HostAddress => out.push_str(&self.names.address),
        }
    }

    fn count(&mut self, _site: u32, _per_user: bool) -> u64 {
        self.refuse();
        0
    }

    fn lines(&mut self, _path: &str, _encoding: &str) -> Result<Lines, String> {
        Err(self.refuse())
    }

    fn text(&mut self, _path: &str, _encoding: &str) -> Result<Arc<str>, String> {
        Err(self.refuse())
    }

    fn environment(&self) -> Result<BTreeMap<String, String>, String> {
        match &self.lent.files.0 {
            Some(files) => files.environment().map_err(|why| why.to_string()),
            None => Err("a script cannot have it before the test".into()),
        }
    }

    fn row(&self, _file: &str) -> Option<u64> {
        None
    }

    fn end_row(&mut self, _file: &str) {
        self.refuse();
    }

    fn lend(&mut self) -> LentState {
        self.refuse();
        LentState::default()
    }

    fn take_back(&mut self, _lent: LentState) {}

    fn next_row(&mut self, _file: &str, _rows: u64) -> u64 {
        self.refuse();
        0
    }
}
