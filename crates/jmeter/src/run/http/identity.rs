//! The client certificate of a request.

use crate::expression::World;
use crate::plan::ConfigKind;
use crate::run::context::View;

/// Index of the certificate for a request to a TLS server: the one that a variable names, or the
/// user's own in turn. `None`: none.
pub(super) fn certificate_of(view: &mut View<'_>, tls: bool) -> Option<u32> {
    let test = view.test();
    let aliases = &test.settings.aliases;
    if aliases.is_empty() || !tls {
        return None;
    }
    let turn = view.thread.serial().saturating_sub(1);
    // As in JMeter, the element acts on the whole plan and the last one wins.
    let mut configs = test.plan.configs.iter().rev();
    let found = configs.find_map(|config| match &config.kind {
        ConfigKind::Keystore {
            start, end, alias, ..
        } => Some((start, end, alias)),
        _ => None,
    });
    let Some((start, end, alias)) = found else {
        return in_turn(aliases.len(), 0, None, turn);
    };
    let variable = view.text(alias);
    if variable.trim().is_empty() {
        let end = end.as_ref().map(|end| view.integer(end));
        let chosen = in_turn(aliases.len(), view.integer(start), end, turn);
        if chosen.is_none() {
            test.sink
                .trouble("KeystoreConfig: the start and end index select no certificate");
        }
        return chosen;
    }
    let wanted = view.variable(variable.trim()).unwrap_or_default();
    let chosen = by_name(aliases, wanted);
    if chosen.is_none() {
        test.sink.trouble(&format!(
            "KeystoreConfig: the key store has no certificate named `{wanted}`"
        ));
    }
    chosen
}

/// Index of the certificate of user `turn` (from 0) among `count`, of which those from `start` to
/// `end` (both included, from 0; negative or `None`: the last) are used in turn.
fn in_turn(count: usize, start: i64, end: Option<i64>, turn: u64) -> Option<u32> {
    let last = i64::try_from(count).ok()? - 1;
    let end = end
        .filter(|end| *end >= 0)
        .map_or(last, |end| end.min(last));
    let start = start.max(0);
    let many = u64::try_from(end.checked_sub(start)?.checked_add(1)?).ok()?;
    let offset = turn.checked_rem(many)?;
    u32::try_from(start.unsigned_abs() + offset).ok()
}

/// Index of the certificate with this name. Java's key stores ignore case.
fn by_name(aliases: &[String], wanted: &str) -> Option<u32> {
    let found = aliases
        .iter()
        .position(|alias| !wanted.is_empty() && alias.eq_ignore_ascii_case(wanted));
    found.and_then(|place| u32::try_from(place).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_take_certificates_in_turn_from_start_to_end() {
        let of = |start, end| -> Vec<Option<u32>> {
            (0..4).map(|turn| in_turn(4, start, end, turn)).collect()
        };
        assert_eq!(of(0, None), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(of(1, Some(2)), [Some(1), Some(2), Some(1), Some(2)]);
        assert_eq!(of(2, Some(99)), [Some(2), Some(3), Some(2), Some(3)]);
        assert_eq!(of(3, Some(-1)), [Some(3); 4]);
        assert_eq!(of(4, None), [None; 4]);
        assert_eq!(of(2, Some(1)), [None; 4]);
        assert_eq!(of(i64::MAX, Some(i64::MIN)), [None; 4]);
        assert_eq!(in_turn(0, 0, None, 0), None);
    }

    #[test]
    fn a_variable_names_a_certificate() {
        let aliases = ["alice", "Bob"].map(str::to_owned);
        assert_eq!(by_name(&aliases, "bob"), Some(1));
        assert_eq!(by_name(&aliases, "carol"), None);
        assert_eq!(by_name(&["".into()], ""), None);
    }
}
