//! Configuration elements.

use sokudo_model::Text;

use super::{DefaultsOf, ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::expression::Template;
use crate::plan::{
    Authorization, ConfigKind, Cookie, CsvData, DnsHost, PreKind, SharingMode, UrlRewriting, Value,
};

const fn config(
    classes: &'static [&'static str],
    tier: u8,
    read: fn(&mut ElementReader<'_, '_>) -> ConfigKind,
) -> ElementSpec {
    element(classes, Family::Config, tier, Role::Config(read))
}

pub(super) const ELEMENTS: &[ElementSpec] = &[
    ElementSpec {
        classes: &["ConfigTestElement"],
        gui: Some("HttpDefaultsGui"),
        family: Family::Config,
        tier: 1,
        role: Role::Defaults(DefaultsOf::Http),
    },
    ElementSpec {
        classes: &["ConfigTestElement"],
        gui: Some("SimpleConfigGui"),
        family: Family::Config,
        tier: 3,
        role: Role::Defaults(DefaultsOf::Any),
    },
    element(
        &["JavaConfig"],
        Family::Config,
        3,
        Role::Defaults(DefaultsOf::Java),
    ),
    element(&["HeaderManager"], Family::Config, 1, Role::Headers),
    element(&["Arguments"], Family::Config, 1, Role::Variables),
    config(&["CookieManager"], 1, cookies),
    config(&["CSVDataSet"], 1, csv),
    config(&["CounterConfig"], 2, counter),
    config(&["RandomVariableConfig"], 2, random_variable),
    config(&["CacheManager"], 2, cache),
    config(&["AuthManager"], 2, authorization),
    config(&["DNSCacheManager"], 2, dns),
    config(&["KeystoreConfig"], 2, keystore),
    element(
        &["UserParameters"],
        Family::PreProcessor,
        2,
        Role::Pre(user_parameters),
    ),
    element(
        &["URLRewritingModifier"],
        Family::PreProcessor,
        3,
        Role::Pre(url_rewriting),
    ),
    element(
        &["AnchorModifier"],
        Family::PreProcessor,
        3,
        Role::Pre(|_| PreKind::FollowLink),
    ),
    element(
        &["RegExUserParameters"],
        Family::PreProcessor,
        3,
        Role::Pre(regex_parameters),
    ),
    element(
        &["SampleTimeout"],
        Family::PreProcessor,
        2,
        Role::Pre(timeout),
    ),
];

fn cookies(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    reader.ignore(&["CookieManager.implementation"]);
    let policy = reader.start_text("CookieManager.policy");
    if matches!(policy.as_str(), "rfc2109" | "rfc2965") {
        let says = Text::new("jmx-cookie-policy").word("policy", policy.as_str());
        let place = reader.place_of("CookieManager.policy");
        reader.compiler.unsupported(&place, says, None);
    }
    ConfigKind::Cookies {
        clear_each_iteration: reader.start_flag("CookieManager.clearEachIteration", false),
        group_decides: reader.start_flag("CookieManager.controlledByThreadGroup", false),
        policy: match policy {
            empty if empty.is_empty() => "standard".into(),
            policy => policy,
        },
        cookies: reader.each("CookieManager.cookies", |cookie| {
            let name = cookie.label.to_owned();
            Cookie {
                name: cookie.compiler.template(&name, &cookie.place),
                value: cookie.text("Cookie.value"),
                domain: cookie.text("Cookie.domain"),
                path: cookie.text_or("Cookie.path", "/"),
                secure: cookie.flag("Cookie.secure", false),
                expires_s: cookie.integer("Cookie.expires", 0),
                sends_path: cookie.flag("Cookie.path_specified", false),
                sends_domain: cookie.flag("Cookie.domain_specified", false),
            }
        }),
    }
}

fn csv(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    let names = reader.start_text("variableNames");
    // Variable names are separated by commas whatever the column separator is.
    let variables: Vec<String> = names
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    for name in &variables {
        reader.compiler.sets(&Template::text(name.clone()));
    }
    // Versions before 2.4, and some programs that write plans, have the texts of the English editor.
    let shared = match reader.start_text("shareMode").as_str() {
        "" | "shareMode.all" | "All threads" => SharingMode::All,
        "shareMode.group" | "Current thread group" => SharingMode::Group,
        "shareMode.thread" | "Current thread" => SharingMode::User,
        word => SharingMode::Named(word.into()),
    };
    ConfigKind::CsvData(CsvData {
        file: reader.text("filename"),
        encoding: reader.text("fileEncoding"),
        variables,
        delimiter: reader.text_or("delimiter", ","),
        skips_first_row: reader.start_flag("ignoreFirstLine", false),
        quoted: reader.start_flag("quotedData", false),
        recycles: reader.start_flag("recycle", true),
        stops_user: reader.start_flag("stopThread", false),
        shared,
    })
}

fn counter(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    let variable = reader.text("CounterConfig.name");
    reader.compiler.sets(&variable);
    ConfigKind::Counter {
        start: reader.integer("CounterConfig.start", 0),
        end: reader.integer_if("CounterConfig.end"),
        step: reader.integer("CounterConfig.incr", 0),
        variable,
        format: reader.text("CounterConfig.format"),
        per_user: reader.flag("CounterConfig.per_user", false),
        resets: reader.flag("CounterConfig.reset_on_tg_iteration", false),
    }
}

fn random_variable(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    let variable = reader.text("variableName");
    reader.compiler.sets(&variable);
    ConfigKind::RandomVariable {
        variable,
        least: reader.integer("minimumValue", 1),
        most: reader.integer("maximumValue", i64::from(i32::MAX)),
        format: reader.text("outputFormat"),
        per_user: reader.flag("perThread", false),
        seed: reader.text("randomSeed"),
    }
}

fn cache(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    ConfigKind::Cache {
        clear_each_iteration: reader.start_flag("clearEachIteration", false),
        group_decides: reader.start_flag("CacheManager.controlledByThread", false),
        follows_expires: reader.start_flag("useExpires", false),
        most_entries: reader.start_integer("maxSize").unwrap_or(5000).max(0) as u64,
    }
}

fn authorization(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    ConfigKind::Authorization {
        clear_each_iteration: reader.start_flag("AuthManager.clearEachIteration", false),
        group_decides: reader.start_flag("AuthManager.controlledByThreadGroup", false),
        entries: reader.each("AuthManager.auth_list", |entry| Authorization {
            url: entry.text("Authorization.url"),
            user: entry.text("Authorization.username"),
            password: entry.text("Authorization.password"),
            domain: entry.text("Authorization.domain"),
            realm: entry.text("Authorization.realm"),
            mechanism: entry.text_or("Authorization.mechanism", "BASIC_DIGEST"),
        }),
    }
}

fn dns(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    ConfigKind::Dns {
        clear_each_iteration: reader.start_flag("DNSCacheManager.clearEachIteration", false),
        servers: reader.texts("DNSCacheManager.servers"),
        hosts: reader.each("DNSCacheManager.hosts", |host| DnsHost {
            name: host.text("StaticHost.Name"),
            address: host.text("StaticHost.Address"),
        }),
        is_custom: reader.start_flag("DNSCacheManager.isCustomResolver", false),
    }
}

fn keystore(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    ConfigKind::Keystore {
        preload: reader.start_text("preload").eq_ignore_ascii_case("true"),
        start: reader.integer("startIndex", 0),
        end: reader
            .integer_if("endIndex")
            .filter(|end| end != &Value::Fixed(-1)),
        alias: reader.text("clientCertAliasVarName"),
    }
}

fn user_parameters(reader: &mut ElementReader<'_, '_>) -> PreKind {
    let names = reader.texts("UserParameters.names");
    for name in &names {
        reader.compiler.sets(name);
    }
    PreKind::UserParameters {
        names,
        values: reader.lists("UserParameters.thread_values", |user| user.all_texts()),
        per_iteration: reader.start_flag("UserParameters.per_iteration", false),
    }
}

fn timeout(reader: &mut ElementReader<'_, '_>) -> PreKind {
    let timeout_ms = reader.integer("InterruptTimer.timeout", 0);
    PreKind::Timeout { timeout_ms }
}

fn regex_parameters(reader: &mut ElementReader<'_, '_>) -> PreKind {
    PreKind::RegexParameters {
        reference: reader.text("RegExUserParameters.regex_ref_name"),
        names: reader.text("RegExUserParameters.param_names_gr_nr"),
        values: reader.text("RegExUserParameters.param_values_gr_nr"),
    }
}

fn url_rewriting(reader: &mut ElementReader<'_, '_>) -> PreKind {
    PreKind::UrlRewriting(UrlRewriting {
        name: reader.text("argument_name"),
        in_path: reader.flag("path_extension", false),
        without_equals: reader.flag("path_extension_no_equals", false),
        ends_at_query: reader.flag("path_extension_no_questionmark", false),
        is_kept: reader.flag("cache_value", true),
        encode: reader.flag("encode", false),
    })
}
