//! Client certificates of the users.

use std::sync::{Arc, OnceLock};

use sokudo_http::{Identity, NoStore, read_store};
use sokudo_jmeter::plan::{ConfigKind, Plan, Value};
use sokudo_model::{Refusal, Text};
use sokudo_workload::refusal::operator;

use super::options::JmxOptions;
use super::read::read_bounded;

/// Largest store.
const MOST_BYTES: u64 = 16 << 20;
/// The property that names the store.
const FILE: &str = "-Djavax.net.ssl.keyStore=FILE";
/// The property that opens it.
const PASSWORD: &str = "-Djavax.net.ssl.keyStorePassword=PASSWORD";
/// First bytes of JCEKS, which `keytool` writes when it is asked to.
const JCEKS: &[u8] = &[0xce, 0xce, 0xce, 0xce];

/// The password of the store: known to this process alone, because options are recorded.
static STORE_PASSWORD: OnceLock<String> = OnceLock::new();

/// Gives this process the password of its store; the first one stays.
pub fn know_key_store_password(password: String) {
    let _ = STORE_PASSWORD.set(password);
}

/// The certificates of the options' store; none when there is no store.
///
/// Errors: it cannot be read or opened, the plan's indexes leave nothing of it, or several generators
/// would need it: keys stay on the host that they lie on.
pub(super) fn read(options: &JmxOptions, plan: &Plan) -> Result<Arc<[Identity]>, Refusal> {
    let Some(path) = &options.key_store else {
        return Ok(Arc::default());
    };
    let file = path.display().to_string();
    if options.together.is_some() {
        return Err(operator(
            Text::new("error-key-store-together").word("file", file),
            Text::new("error-key-store-together-hint"),
        ));
    }
    let bytes = read_bounded(path, MOST_BYTES).map_err(|error| {
        operator(
            Text::new("error-key-store-unreadable")
                .word("file", &file)
                .with("error", error),
            Text::new("error-key-store-unreadable-hint").word("option", FILE),
        )
    })?;
    if bytes.starts_with(JCEKS) {
        return Err(operator(
            Text::new("error-key-store-jceks").word("file", &file),
            converted(&file),
        ));
    }
    let password = STORE_PASSWORD.get().map(String::as_str);
    let entries = read_store(&bytes, password).map_err(|why| {
        let says = Text::new("error-key-store")
            .word("file", &file)
            .text("why", why.text());
        operator(says, hint(&why, &file))
    })?;
    indexes_fit(plan, entries.len())?;
    Ok(entries.into())
}

/// Remedy for a store that cannot be used.
fn hint(why: &NoStore, file: &str) -> Text {
    match why {
        NoStore::NoPassword => Text::new("error-key-store-password-hint").word("option", PASSWORD),
        NoStore::WrongPassword => Text::new("error-key-store-wrong-password-hint")
            .word("file", file)
            .word("option", PASSWORD),
        NoStore::OtherPassword => Text::new("error-key-store-other-password-hint"),
        NoStore::Indefinite | NoStore::UnknownSeal(_) | NoStore::TooManyRounds(_) => {
            converted(file)
        }
        NoStore::NoKey => Text::new("error-key-store-no-key-hint"),
        NoStore::NoPlainKey => Text::new("error-key-store-no-plain-key-hint"),
        NoStore::NoCertificate(_) => Text::new("error-key-store-no-certificate-hint"),
        NoStore::BadKey(_) => Text::new("error-key-store-bad-key-hint"),
        NoStore::TooMany => Text::new("error-key-store-many-hint"),
        NoStore::Unknown | NoStore::Damaged | NoStore::Signed => {
            Text::new("error-key-store-file-hint").word("option", FILE)
        }
    }
}

fn converted(file: &str) -> Text {
    Text::new("error-key-store-convert-hint").word("file", file)
}

/// Refuses indexes of the plan's KeystoreConfig that leave none of so many certificates.
fn indexes_fit(plan: &Plan, count: usize) -> Result<(), Refusal> {
    // As in the tool, the element acts on the whole plan and the last one wins.
    let found = plan.configs.iter().rev().find_map(|config| {
        let ConfigKind::Keystore { start, end, .. } = &config.kind else {
            return None;
        };
        Some((start, end.as_ref(), config))
    });
    let Some((Value::Fixed(start), end, config)) = found else {
        return Ok(());
    };
    let (start, count) = ((*start).max(0), count as i64);
    let last = match end {
        Some(Value::Fixed(end)) if *end >= 0 => *end,
        _ => count - 1,
    };
    if start <= last && start < count {
        return Ok(());
    }
    Err(operator(
        Text::new("error-key-store-indexes")
            .with("place", &config.place)
            .with("start", start)
            .with("last", last)
            .with("count", count),
        Text::new("error-key-store-indexes-hint"),
    ))
}
