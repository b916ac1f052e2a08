//! Databases: their pools, and the elements that execute statements on them.

use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::expression::Template;
use crate::jdbc_url;
use crate::plan::{
    ConfigKind, Database, DatabaseAddress, DatabaseDriver, DatabaseQuery, IdleCheck,
    IsolationLevel, PostKind, PreKind, SamplerKind,
};

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["JDBCDataSource"],
        Family::Config,
        3,
        Role::Config(data_source),
    ),
    element(&["JDBCSampler"], Family::Sampler, 3, Role::Sampler(sampler)),
    element(
        &["JDBCPreProcessor"],
        Family::PreProcessor,
        3,
        Role::Pre(pre_processor),
    ),
    element(
        &["JDBCPostProcessor"],
        Family::PostProcessor,
        3,
        Role::Post(post_processor),
    ),
];

fn data_source(reader: &mut ElementReader<'_, '_>) -> ConfigKind {
    // Statements are prepared as the driver does it by itself.
    reader.ignore(&["poolPreparedStatements"]);
    let driver_class = reader.start_text("driver");
    let url = reader.start_text("dbUrl");
    let properties = reader.start_text("connectionProperties");
    let properties: Vec<(String, String)> = properties
        .split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    let address = address(reader, (&driver_class, &url), &properties);
    let isolation = reader.choice("transactionIsolation", ISOLATIONS);
    let milliseconds = |reader: &mut ElementReader<'_, '_>, name: &str, default: i64| {
        reader.start_integer(name).unwrap_or(default)
    };
    let is_kept = reader.start_flag("keepAlive", false);
    let every_ms = milliseconds(reader, "trimInterval", 60_000);
    let age_ms = milliseconds(reader, "connectionAge", 5_000);
    let query = reader.start_text("checkQuery");
    let connections = milliseconds(reader, "poolMax", 0);
    let set_up = reader.start_text("initQuery");
    let set_up = set_up.split('\n').map(str::trim);
    ConfigKind::Database(Box::new(Database {
        variable: reader.start_text("dataSource"),
        address,
        url: jdbc_url::without_password(&url),
        driver_class,
        user: reader.start_text("username"),
        password: reader.start_text("password"),
        connections: u32::try_from(connections).unwrap_or(0),
        max_wait_ms: milliseconds(reader, "timeout", 10_000),
        auto_commit: reader.start_flag("autocommit", true),
        isolation,
        set_up: set_up
            .filter(|sql| !sql.is_empty())
            .map(str::to_owned)
            .collect(),
        is_made_ahead: reader.start_flag("preinit", false),
        idle: is_kept.then(|| IdleCheck {
            every_ms: u64::try_from(every_ms).unwrap_or(0),
            age_ms: u64::try_from(age_ms).unwrap_or(0),
            query,
        }),
    }))
}

const ISOLATIONS: &[(&str, Option<IsolationLevel>)] = &[
    ("DEFAULT", None),
    ("TRANSACTION_NONE", None),
    (
        "TRANSACTION_READ_UNCOMMITTED",
        Some(IsolationLevel::ReadUncommitted),
    ),
    (
        "TRANSACTION_READ_COMMITTED",
        Some(IsolationLevel::ReadCommitted),
    ),
    (
        "TRANSACTION_REPEATABLE_READ",
        Some(IsolationLevel::RepeatableRead),
    ),
    (
        "TRANSACTION_SERIALIZABLE",
        Some(IsolationLevel::Serializable),
    ),
];

/// Address of the database. What cannot be opened as the driver would is reported.
fn address(
    reader: &mut ElementReader<'_, '_>,
    (class, url): (&str, &str),
    properties: &[(String, String)],
) -> Option<DatabaseAddress> {
    let Some(driver) = jdbc_url::driver(class) else {
        let says = Text::new("jmx-jdbc-driver").word("driver", class.trim());
        let place = reader.place_of("driver");
        let hint = Text::new("jmx-jdbc-driver-hint");
        reader.compiler.unsupported(&place, says, Some(hint));
        return None;
    };
    match jdbc_url::parse(driver, url, properties) {
        Ok(address) => Some(address),
        Err(says) => {
            let says = says.word("url", jdbc_url::without_password(url));
            let place = reader.place_of("dbUrl");
            let hint = match driver {
                DatabaseDriver::Postgres => "jdbc:postgresql://HOST:PORT/DATABASE",
                DatabaseDriver::MariaDb => "jdbc:mariadb://HOST:PORT/DATABASE",
                DatabaseDriver::MySql => "jdbc:mysql://HOST:PORT/DATABASE",
                DatabaseDriver::Sqlite => "jdbc:sqlite:FILE",
            };
            let hint = Text::new("jmx-jdbc-url-hint").word("form", hint);
            reader.compiler.unsupported(&place, says, Some(hint));
            None
        }
    }
}

fn sampler(reader: &mut ElementReader<'_, '_>) -> SamplerKind {
    SamplerKind::Database(Box::new(query(reader)))
}

fn pre_processor(reader: &mut ElementReader<'_, '_>) -> PreKind {
    PreKind::Database(Box::new(query(reader)))
}

fn post_processor(reader: &mut ElementReader<'_, '_>) -> PostKind {
    PostKind::Database(Box::new(query(reader)))
}

fn query(reader: &mut ElementReader<'_, '_>) -> DatabaseQuery {
    // How objects of type ResultSet are kept: drivers give them for output parameters only.
    reader.ignore(&["resultSetHandler"]);
    let variables = reader.text("variableNames");
    for name in variables.constant().unwrap_or_default().split(',') {
        let name = name.trim();
        if !name.is_empty() {
            reader.compiler.sets(&Template::text(format!("{name}_*")));
        }
    }
    let types = reader.text("queryArgumentsTypes");
    let words = types.to_string().to_ascii_uppercase();
    if words.split(',').any(|word| {
        let word = word.trim_start();
        word.starts_with("OUT ") || word.starts_with("INOUT ")
    }) {
        let says = Text::new("jmx-jdbc-output");
        let place = reader.place_of("queryArgumentsTypes");
        reader.compiler.unsupported(&place, says, None);
    }
    DatabaseQuery {
        pool: reader.text("dataSource"),
        query_type: reader.text_or("queryType", "Select Statement"),
        text: reader.text("query"),
        arguments: reader.text("queryArguments"),
        types,
        variables,
        result: reader.text("resultVariable"),
        most_rows: reader.text("resultSetMaxRows"),
        timeout_s: reader.text("queryTimeout"),
    }
}
