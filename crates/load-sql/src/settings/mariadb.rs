//! Settings of MariaDB and MySQL: global variables.

use std::collections::{BTreeMap, BTreeSet};

use sokudo_model::Text;
use sokudo_sql::{Session, SqlError, Target};

use super::{Applied, Profile, Wrong, listed, literal, texts};
use crate::db::CONNECT;

/// The values of these variables.
pub(super) async fn look(
    session: &mut Session,
    names: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, Wrong> {
    let values = values(session, names).await?;
    match names.iter().find(|name| !values.contains_key(*name)) {
        Some(name) => Err(Wrong::Says(
            Text::new("error-settings-unknown").word("setting", name),
        )),
        None => Ok(values),
    }
}

async fn values(
    session: &mut Session,
    names: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, SqlError> {
    let sql = format!(
        "show global variables where variable_name in ({})",
        listed(names)
    );
    let rows: Vec<[String; 2]> = texts(session, &sql).await?;
    Ok(rows
        .into_iter()
        .map(|[name, value]| (name, value))
        .collect())
}

async fn set(session: &mut Session, name: &str, value: &str) -> Result<(), Wrong> {
    let value = number(value).unwrap_or_else(|| literal(value));
    let set = session.batch(&format!("set global {name} = {value}")).await;
    set.map_err(|error| {
        // Read-only variables are those of the option file.
        let key = match error
            .code
            .as_deref()
            .is_some_and(|code| code.ends_with("/1238"))
        {
            true => "error-settings-restart",
            false => "error-settings-rejected",
        };
        let says = Text::new(key).word("setting", name);
        Wrong::Says(says.word("why", error.to_string()))
    })
}

/// A number as SET takes it; sizes are written out, which only option files may shorten.
fn number(value: &str) -> Option<String> {
    let (digits, factor) = match value.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&value[..value.len() - 1], 1 << 10),
        b'M' => (&value[..value.len() - 1], 1 << 20),
        b'G' => (&value[..value.len() - 1], 1u64 << 30),
        _ if value.parse::<f64>().is_ok_and(f64::is_finite) => return Some(value.to_owned()),
        _ => return None,
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(bytes.to_string())
}

/// Gives the server the settings of a profile, and the others as they were.
pub(super) async fn apply(
    target: &Target,
    before: &BTreeMap<String, String>,
    profile: &Profile,
) -> Result<Vec<Applied>, Wrong> {
    let mut session = Session::connect(target, CONNECT).await?;
    for (name, stood) in before {
        let wanted = profile.settings.get(name).unwrap_or(stood);
        set(&mut session, name, wanted).await?;
    }
    let now = values(&mut session, &before.keys().cloned().collect()).await?;
    let applied = now.into_iter();
    Ok(applied
        .map(|(name, value)| Applied { name, value })
        .collect())
}

/// Puts the variables back. Errors: one is not what it was.
pub(super) async fn restore(
    target: &Target,
    before: &BTreeMap<String, String>,
) -> Result<(), Wrong> {
    let mut session = Session::connect(target, CONNECT).await?;
    for (name, value) in before {
        set(&mut session, name, value).await?;
    }
    match values(&mut session, &before.keys().cloned().collect()).await? == *before {
        true => Ok(()),
        false => Err(Wrong::Says(Text::new("error-settings-not-back"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_out_and_words_are_no_numbers() {
        let read = |text: &str| number(text);
        assert_eq!(read("200").as_deref(), Some("200"));
        assert_eq!(read("1.5").as_deref(), Some("1.5"));
        assert_eq!(read("256M").as_deref(), Some("268435456"));
        assert_eq!(read("1g").as_deref(), Some("1073741824"));
        for word in ["ON", "", "O_DIRECT", "99999999999999999999G", "M"] {
            assert_eq!(read(word), None, "{word}");
        }
    }
}
