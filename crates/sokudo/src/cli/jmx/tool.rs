//! Options of JMeter that say something about the tool itself, and what they mean here.

use std::path::PathBuf;

use clap::Args;
use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::properties::Properties;
use sokudo_jmeter::proxy::Proxy;
use sokudo_load_http::jmx;
use sokudo_model::Text;

use super::{Exit, Failure};
use crate::cli::screen::tell;

/// System properties of the proxy.
const PROXY: &[&str] = &["http.proxyHost", "http.proxyPort", "http.nonProxyHosts"];
/// System property that names the store of the certificates that users show.
const KEY_STORE: &str = "javax.net.ssl.keyStore";
/// System property that opens it. Never recorded.
const STORE_PASSWORD: &str = "javax.net.ssl.keyStorePassword";
/// System property of its type. A file says itself what it is; this word says where the keys lie.
const STORE_TYPE: &str = "javax.net.ssl.keyStoreType";
/// Types of stores that lie in files.
const FILE_TYPES: &[&str] = &["PKCS12", "JKS", "JCEKS", "PEM"];
/// System properties that mean something here, besides those of the proxy.
const HEEDED: &[&str] = &[KEY_STORE, STORE_PASSWORD, STORE_TYPE];

/// Options of the tool itself.
#[derive(Debug, Args)]
pub(super) struct ToolArgs {
    /// Log of what the scripts of the plan say, begun anew; with one generator only.
    #[arg(short = 'j', alias = "jmeterlogfile", value_name = "FILE")]
    pub log_file: Option<PathBuf>,

    /// Set-up of the tool's log: taken, and without meaning here.
    #[arg(short = 'i', alias = "jmeterlogconf", value_name = "FILE")]
    log_set_up: Option<PathBuf>,

    /// Log level of the tool: taken, and without meaning here.
    #[arg(short = 'L', alias = "loglevel", value_name = "CATEGORY=LEVEL")]
    log_level: Vec<String>,

    /// Proxy for all requests. A sampler with a proxy of its own keeps it.
    #[arg(short = 'H', alias = "proxyHost", value_name = "HOST")]
    proxy_host: Option<String>,

    /// Port of the proxy.
    #[arg(short = 'P', alias = "proxyPort", value_name = "PORT", requires = "proxy_host",
          value_parser = clap::value_parser!(u16).range(1..))]
    proxy_port: Option<u16>,

    /// Hosts that are asked directly: names separated by `|`, with `*` at the beginning or end.
    #[arg(
        short = 'N',
        alias = "nonProxyHosts",
        value_name = "HOSTS",
        requires = "proxy_host"
    )]
    no_proxy: Option<String>,

    /// Scheme of the proxy: only `http`.
    #[arg(short = 'E', alias = "proxyScheme", value_name = "SCHEME", requires = "proxy_host",
          value_parser = ["http"])]
    proxy_scheme: Option<String>,

    /// User at the proxy.
    #[arg(
        short = 'u',
        alias = "username",
        value_name = "USER",
        requires = "proxy_host"
    )]
    proxy_user: Option<String>,

    /// Password at the proxy. Never recorded.
    #[arg(
        short = 'a',
        alias = "password",
        value_name = "PASSWORD",
        requires = "proxy_user"
    )]
    proxy_password: Option<String>,

    /// Run as a server for remote starts: not supported.
    #[arg(short = 's', alias = "server")]
    server: bool,

    /// The version, and nothing else.
    #[arg(short = 'v', alias = "version")]
    version: bool,
}

impl ToolArgs {
    /// Answer of options that need no plan. Errors: what they ask for is done otherwise here.
    pub fn answer(&self) -> Result<Option<Exit>, Failure> {
        if self.server {
            return Err(Failure::operator(
                Text::new("error-tool-server"),
                Text::new("error-tool-server-hint"),
            ));
        }
        if self.version {
            println!(
                "sokudo {}: takes command lines and plans of Apache JMeter up to 5.6",
                env!("CARGO_PKG_VERSION")
            );
            return Ok(Some(Exit::Fine));
        }
        Ok(None)
    }

    /// The proxy of all requests: of these options, or of the system's properties. Its password
    /// stays in this process. Errors: its port is none.
    pub fn proxy(&self, system: &Properties) -> Result<Option<Proxy>, Failure> {
        let mut system = system.clone();
        let port = self.proxy_port.map(|port| port.to_string());
        for (name, value) in PROXY.iter().zip([&self.proxy_host, &port, &self.no_proxy]) {
            if let Some(value) = value {
                system.set(*name, value, sokudo_jmeter::properties::Origin::CommandLine);
            }
        }
        let mut proxy = Proxy::from_properties(&system)
            .map_err(|why| Failure::operator(why, Text::new("error-tool-port-hint")))?;
        if let Some(proxy) = &mut proxy {
            proxy.user = self.proxy_user.clone().unwrap_or_default();
            if let Some(password) = &self.proxy_password {
                jmx::know_proxy_password(password.clone());
            }
        }
        Ok(proxy)
    }

    /// The file of the certificates that users show, by the system's properties. Its password stays
    /// in this process. Errors: the keys lie in no file.
    pub fn key_store(system: &Properties) -> Result<Option<PathBuf>, Failure> {
        let kind = system.get(STORE_TYPE).map_or("", str::trim);
        let is_kind = |known: &&str| known.eq_ignore_ascii_case(kind);
        if !kind.is_empty() && !FILE_TYPES.iter().any(is_kind) {
            return Err(Failure::operator(
                Text::new("error-tool-key-type")
                    .with("property", STORE_TYPE)
                    .with("kind", kind),
                Text::new("error-tool-key-type-hint").with("property", KEY_STORE),
            ));
        }
        if let Some(password) = system.get(STORE_PASSWORD) {
            jmx::know_key_store_password(password.to_owned());
        }
        let file = system.get(KEY_STORE).map_or("", str::trim);
        // As the tool's Java: this word stands for no store.
        let is_none = file.is_empty() || file.eq_ignore_ascii_case("NONE");
        Ok((!is_none).then(|| PathBuf::from(file)))
    }

    /// Tells which options were taken and mean nothing here.
    pub fn tell_ignored(&self, system: &Properties, is_alone: bool, lang: Lang) {
        let mut ignored: Vec<String> = Vec::new();
        let mut note = |is_given: bool, name: &str| {
            if is_given {
                ignored.push(name.into());
            }
        };
        note(self.log_file.is_some() && !is_alone, "-j");
        note(self.log_set_up.is_some(), "-i");
        note(!self.log_level.is_empty(), "-L");
        let own = Properties::default();
        for (name, _) in system.iter() {
            let is_heeded = PROXY.contains(&name) || HEEDED.contains(&name);
            let is_known = is_heeded || own.get(name).is_some();
            note(!is_known, &format!("-D{name}"));
        }
        if !ignored.is_empty() {
            let said = I18n::new(lang).message(
                "jmx-run-options-ignored",
                &[("options", &ignored.join(" "))],
            );
            tell(&said);
        }
    }
}
