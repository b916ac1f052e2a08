//! Which certificates may users show?

use std::sync::Arc;

use sokudo_http::{Identity, read_store};
use sokudo_model::Refusal;

use super::options::LoadOptions;
use super::read::read_bounded;
use crate::refusal::operator;

/// Largest store.
const MOST_BYTES: u64 = 16 << 20;
/// First bytes of the stores that `keytool` writes: JKS and JCEKS.
const JAVA: [&[u8]; 2] = [&[0xfe, 0xed, 0xfe, 0xed], &[0xce, 0xce, 0xce, 0xce]];
/// First byte of PKCS#12.
const PKCS12: u8 = 0x30;

/// The certificates of the options' store; none when there is no store.
///
/// Errors: it cannot be read, is not in PEM, or several generators would need it: keys stay on the
/// host that they lie on.
pub(super) fn read(options: &LoadOptions) -> Result<Arc<[Identity]>, Refusal> {
    let Some(path) = &options.key_store else {
        return Ok(Arc::default());
    };
    let file = path.display();
    if options.together.is_some() {
        return Err(operator(
            format!("the keys of `{file}` are not sent to other hosts"),
            "execute the plan on one host, without `--on`",
        ));
    }
    let bytes = read_bounded(path, MOST_BYTES).map_err(|error| {
        operator(
            format!("the key store `{file}` cannot be read: {error}"),
            "name a PEM file that you may read, of at most 16 MiB, with -Djavax.net.ssl.keyStore=FILE",
        )
    })?;
    if JAVA.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(operator(
            format!("the key store `{file}` is one of Java's, and PEM is needed"),
            format!(
                "keytool -importkeystore -srckeystore {file} -destkeystore {file}.p12 -deststoretype \
                 PKCS12, then openssl pkcs12 -in {file}.p12 -out {file}.pem -nodes"
            ),
        ));
    }
    if bytes.first() == Some(&PKCS12) {
        return Err(operator(
            format!("the key store `{file}` is PKCS#12, and PEM is needed"),
            format!(
                "openssl pkcs12 -in {file} -out {} -nodes",
                path.with_extension("pem").display()
            ),
        ));
    }
    let entries = read_store(&bytes).map_err(|why| {
        operator(
            format!("the key store `{file}` cannot be used: {why}"),
            "write certificates and keys in PEM, keys without a password: openssl pkcs12 -in x.p12 \
             -out x.pem -nodes",
        )
    })?;
    Ok(entries.into())
}
