//! Texts that the hosts of a phase tell each other: offers, and what each has sent.

use serde::de::DeserializeOwned;
use sokudo_model::spec::HostSpec;
use sokudo_model::{Refusal, Text};

use crate::refusal::failed;

/// Name of the senders' counts in errors.
pub const SENT: &str = "send count";

/// Reads what each host told, by host index; `None` for a host that told nothing. `what` names the
/// text in errors: `offer`, or [`SENT`].
///
/// Errors: a text that cannot be read; they name the host and the field.
pub fn read_each<T: DeserializeOwned>(
    hosts: &[HostSpec],
    what: &str,
    texts: &[Option<String>],
) -> Result<Vec<Option<T>>, Refusal> {
    let read = |(index, text): (usize, &Option<String>)| {
        let text = text.as_deref();
        text.map(|text| read_one(hosts, index, what, text))
            .transpose()
    };
    texts.iter().enumerate().map(read).collect()
}

/// Reads what the host of this index told.
///
/// Errors: as [`read_each`].
pub fn read_one<T: DeserializeOwned>(
    hosts: &[HostSpec],
    host: usize,
    what: &str,
    text: &str,
) -> Result<T, Refusal> {
    crate::json::read(text).map_err(|error| {
        let name = hosts.get(host).map(|host| host.name.clone());
        let name = name.filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("host {host}"));
        failed(
            Text::new(match what {
                SENT => "error-told-sent",
                _ => "error-told-offer",
            })
            .word("host", name)
            .with("error", error),
            Some(Text::new("error-hint-same-version")),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn read(texts: &[Option<&str>]) -> Result<Vec<Option<BTreeMap<u32, u64>>>, String> {
        let texts: Vec<_> = texts.iter().map(|text| text.map(str::to_owned)).collect();
        let host = |name: &str| HostSpec {
            name: name.into(),
            address: String::new(),
        };
        let hosts = [host("hosta"), host("hostb"), host("")];
        read_each(&hosts, "offer", &texts).map_err(|refusal| sokudo_i18n::english(&refusal.says))
    }

    #[test]
    fn what_was_told_comes_back_and_silence_stays_silence() {
        let told = read(&[None, Some(r#"{"3": 7}"#)]);
        assert_eq!(told, Ok(vec![None, Some(BTreeMap::from([(3, 7)]))]));
    }

    #[test]
    fn a_text_that_cannot_be_read_names_the_host_and_the_field() {
        let says = read(&[None, Some(r#"{"3": "many"}"#)]).unwrap_err();
        assert!(
            says.starts_with("the offer of hostb cannot be read: 3: "),
            "{says}"
        );
        let says = read(&[Some("")]).unwrap_err();
        assert!(
            says.starts_with("the offer of hosta cannot be read: "),
            "{says}"
        );
        let says = read(&[None, None, Some("[]")]).unwrap_err();
        assert!(
            says.starts_with("the offer of host 2 cannot be read: "),
            "{says}"
        );
    }
}
