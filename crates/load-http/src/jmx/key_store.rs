//! Client certificates of the users.

use std::sync::{Arc, OnceLock};

use sokudo_http::{Identity, NoStore, read_store};
use sokudo_jmeter::plan::{ConfigKind, Plan, Value};
use sokudo_model::Refusal;
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
            format!("the keys of `{file}` are not sent to other hosts"),
            "execute the plan on one host, without `--on`",
        ));
    }
    let bytes = read_bounded(path, MOST_BYTES).map_err(|error| {
        operator(
            format!("the key store `{file}` cannot be read: {error}"),
            format!("name a file that you may read, of at most 16 MiB, with {FILE}"),
        )
    })?;
    if bytes.starts_with(JCEKS) {
        return Err(operator(
            format!("the key store `{file}` is JCEKS, and PKCS#12, JKS and PEM are read"),
            converted(&file),
        ));
    }
    let password = STORE_PASSWORD.get().map(String::as_str);
    let entries = read_store(&bytes, password).map_err(|why| {
        let says = format!("the key store `{file}` cannot be used: {why}");
        operator(says, hint(&why, &file))
    })?;
    indexes_fit(plan, entries.len())?;
    Ok(entries.into())
}

/// Remedy for a store that cannot be used.
fn hint(why: &NoStore, file: &str) -> String {
    match why {
        NoStore::NoPassword => format!("give its password: {PASSWORD}"),
        NoStore::WrongPassword => {
            format!("give the password that `keytool -list -keystore {file}` takes: {PASSWORD}")
        }
        NoStore::OtherPassword => {
            "give all keys the store's password: keytool -keypasswd -alias NAME -keystore FILE"
                .into()
        }
        NoStore::Indefinite | NoStore::UnknownSeal(_) | NoStore::TooManyRounds(_) => {
            converted(file)
        }
        NoStore::NoKey => {
            "a store of certificates alone is a trust store: name the one with your keys".into()
        }
        NoStore::NoPlainKey => {
            "write certificates and keys in PEM, keys without a password: openssl pkcs12 -in x.p12 \
             -out x.pem -nodes"
                .into()
        }
        NoStore::NoCertificate(_) => {
            "store each key together with its certificate: openssl pkcs12 -export -inkey x.key -in \
             x.crt -out x.p12"
                .into()
        }
        NoStore::BadKey(_) => "store a key of RSA, Ed25519, P-256 or P-384".into(),
        NoStore::TooMany => "divide it into several stores".into(),
        NoStore::Unknown | NoStore::Damaged | NoStore::Signed => {
            format!("name the file that your keys were exported to, with {FILE}")
        }
    }
}

fn converted(file: &str) -> String {
    format!(
        "keytool -importkeystore -srckeystore {file} -destkeystore {file}.p12 -deststoretype PKCS12, \
         and name that one"
    )
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
        format!(
            "{}: the KeystoreConfig takes the certificates {start} to {last} of the key store, which \
             holds {count}, counted from 0",
            config.place
        ),
        "choose a startIndex and an endIndex within; an empty endIndex is the last one",
    ))
}
