//! URLs of JDBC drivers.
//!
//! ```text
//! jdbc:postgresql://HOST:PORT/DB?user=…&currentSchema=…
//! jdbc:mariadb://HOST:PORT/DB?…      jdbc:mysql://HOST:PORT/DB?…
//! jdbc:sqlite:FILE                   jdbc:sqlite::memory:
//! ```

use sokudo_model::Text;

use crate::plan::{DatabaseAddress, DatabaseDriver, Encryption};

/// Options of drivers that change nothing of what a plan does or shows.
const WITHOUT_EFFECT: &[(DatabaseDriver, &[&str])] = &[
    (
        DatabaseDriver::Postgres,
        &[
            "adaptiveFetch",
            "assumeMinServerVersion",
            "connectTimeout",
            "databaseMetadataCacheFields",
            "loggerLevel",
            "loginTimeout",
            "prepareThreshold",
            "preparedStatementCacheQueries",
            "preparedStatementCacheSizeMiB",
            "reWriteBatchedInserts",
            "tcpKeepAlive",
            "tcpNoDelay",
        ],
    ),
    (
        DatabaseDriver::MariaDb,
        &[
            "autoReconnect",
            "cachePrepStmts",
            "connectTimeout",
            "permitMysqlScheme",
            "rewriteBatchedStatements",
            "tcpKeepAlive",
            "useBulkStmts",
        ],
    ),
    (
        DatabaseDriver::MySql,
        &[
            "allowPublicKeyRetrieval",
            "autoReconnect",
            "cachePrepStmts",
            "characterEncoding",
            "connectTimeout",
            "rewriteBatchedStatements",
            "serverTimezone",
            "tcpKeepAlive",
            "useUnicode",
        ],
    ),
    (DatabaseDriver::Sqlite, &[]),
];

/// Options about encryption.
const ENCRYPTION: &[(DatabaseDriver, &[&str])] = &[
    (
        DatabaseDriver::Postgres,
        &["ssl", "sslmode", "sslrootcert", "sslfactory"],
    ),
    (
        DatabaseDriver::MariaDb,
        &[
            "sslMode",
            "useSsl",
            "useSSL",
            "serverSslCert",
            "trustServerCertificate",
        ],
    ),
    (
        DatabaseDriver::MySql,
        &["sslMode", "useSSL", "requireSSL", "verifyServerCertificate"],
    ),
    (DatabaseDriver::Sqlite, &[]),
];

/// The class by which PostgreSQL's driver takes any certificate.
const NON_VALIDATING: &str = "org.postgresql.ssl.NonValidatingFactory";

/// The driver of a class; `None`: it is not supported.
pub(crate) fn driver(class: &str) -> Option<DatabaseDriver> {
    Some(match class.trim() {
        "org.postgresql.Driver" => DatabaseDriver::Postgres,
        "org.mariadb.jdbc.Driver" => DatabaseDriver::MariaDb,
        "com.mysql.cj.jdbc.Driver" | "com.mysql.jdbc.Driver" => DatabaseDriver::MySql,
        "org.sqlite.JDBC" => DatabaseDriver::Sqlite,
        _ => return None,
    })
}

/// Address of a database, from its URL and the connection properties beside it. Errors: the reason why it
/// cannot be opened as the driver would.
pub(crate) fn parse(
    driver: DatabaseDriver,
    url: &str,
    properties: &[(String, String)],
) -> Result<DatabaseAddress, Text> {
    let url = url.trim();
    let wrong = || Text::new("jmx-jdbc-url");
    let rest = match driver {
        DatabaseDriver::Postgres => url.strip_prefix("jdbc:postgresql:"),
        DatabaseDriver::MariaDb => {
            let mysql = url
                .strip_prefix("jdbc:mysql:")
                .filter(|rest| rest.contains("permitMysqlScheme"));
            url.strip_prefix("jdbc:mariadb:").or(mysql)
        }
        DatabaseDriver::MySql => url.strip_prefix("jdbc:mysql:"),
        DatabaseDriver::Sqlite => url.strip_prefix("jdbc:sqlite:"),
    };
    let rest = rest.ok_or_else(wrong)?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut address = DatabaseAddress {
        driver,
        host: "localhost".into(),
        port: match driver {
            DatabaseDriver::Postgres => 5432,
            _ => 3306,
        },
        database: String::new(),
        file: None,
        user: None,
        password: None,
        settings: Vec::new(),
        encryption: Encryption::Never,
        authorities: None,
    };
    match driver {
        DatabaseDriver::Sqlite => {
            let is_memory = matches!(place, "" | ":memory:");
            if place.starts_with("file:") || place.starts_with(":resource:") {
                return Err(wrong());
            }
            address.file = (!is_memory).then(|| place.to_owned());
        }
        _ => server(place, &mut address)?,
    }
    let given = query.split('&').filter(|pair| !pair.is_empty());
    let given = given.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    });
    let all: Vec<(String, String)> = given.chain(properties.iter().cloned()).collect();
    for (name, value) in &all {
        option(name, value.clone(), &mut address)?;
    }
    encrypt(&all, &mut address)?;
    Ok(address)
}

/// Host, port and name of `//HOST:PORT/DB`, or of `DB`.
fn server(place: &str, address: &mut DatabaseAddress) -> Result<(), Text> {
    let wrong = || Text::new("jmx-jdbc-url");
    let Some(rest) = place.strip_prefix("//") else {
        if address.driver != DatabaseDriver::Postgres {
            return Err(wrong());
        }
        address.database = decoded(place);
        return Ok(());
    };
    let (server, database) = rest.split_once('/').unwrap_or((rest, ""));
    if server.contains([',', '(', '@']) {
        return Err(Text::new("jmx-jdbc-hosts"));
    }
    let after_bracket = server.rfind(']').unwrap_or(0);
    let (host, port) = match server[after_bracket..].rfind(':') {
        Some(at) => (
            &server[..after_bracket + at],
            Some(&server[after_bracket + at + 1..]),
        ),
        None => (server, None),
    };
    if let Some(port) = port.filter(|port| !port.is_empty()) {
        let port: Option<u16> = port.parse().ok().filter(|port| *port > 0);
        address.port = port.ok_or_else(wrong)?;
    }
    if !host.is_empty() {
        address.host = host.trim_matches(['[', ']']).to_owned();
    }
    address.database = decoded(database);
    Ok(())
}

fn option(name: &str, value: String, address: &mut DatabaseAddress) -> Result<(), Text> {
    let driver = address.driver;
    let refused = || Text::new("jmx-jdbc-option").word("option", name.to_owned());
    let mut others = WITHOUT_EFFECT.iter().chain(ENCRYPTION);
    if others.any(|(of, names)| *of == driver && names.contains(&name)) {
        return Ok(());
    }
    match (driver, name) {
        (DatabaseDriver::Sqlite, _) => return Err(refused()),
        (_, "user") => address.user = Some(value),
        (_, "password") => address.password = Some(value),
        (DatabaseDriver::Postgres, "ApplicationName") => {
            address.settings.push(("application_name".into(), value));
        }
        (DatabaseDriver::Postgres, "currentSchema") => {
            address.settings.push(("search_path".into(), value));
        }
        _ => return Err(refused()),
    }
    Ok(())
}

/// Takes encryption from all options together, as the driver does: the newer ones win.
fn encrypt(options: &[(String, String)], address: &mut DatabaseAddress) -> Result<(), Text> {
    let of = |name: &str| {
        let mut options = options.iter().rev();
        let (_, value) = options.find(|(known, _)| known == name)?;
        Some(value.as_str())
    };
    let is = |name: &str| of(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let refused = |name: &str| Text::new("jmx-jdbc-option").word("option", name.to_owned());
    let mode = match address.driver {
        DatabaseDriver::Postgres => of("sslmode"),
        _ => of("sslMode"),
    };
    let mode = mode.map(str::to_ascii_lowercase);
    let mode = mode.as_deref();
    address.encryption = match address.driver {
        DatabaseDriver::Postgres => match mode {
            _ if of("sslfactory") == Some(NON_VALIDATING) => Encryption::Always,
            _ if of("sslfactory").is_some() => return Err(refused("sslfactory")),
            // Without encryption first: servers that require it are refused.
            Some("disable" | "allow") => Encryption::Never,
            Some("prefer") => Encryption::WhereOffered,
            Some("require") => Encryption::Always,
            Some("verify-ca") => Encryption::Authority,
            Some("verify-full") => Encryption::Name,
            Some(_) => return Err(refused("sslmode")),
            None if is("ssl") || of("ssl") == Some("") => Encryption::Name,
            None => Encryption::WhereOffered,
        },
        DatabaseDriver::MariaDb => match mode.or(of("useSsl")).or(of("useSSL")) {
            _ if is("trustServerCertificate") => Encryption::Always,
            None | Some("disable" | "false" | "0") => Encryption::Never,
            Some("trust") => Encryption::Always,
            Some("verify-ca" | "verify_ca") => Encryption::Authority,
            Some("verify-full" | "verify_full" | "true" | "1") => Encryption::Name,
            Some(_) => return Err(refused("sslMode")),
        },
        DatabaseDriver::MySql => match mode {
            Some("disabled") => Encryption::Never,
            Some("preferred") => Encryption::WhereOffered,
            Some("required") => Encryption::Always,
            Some("verify_ca") => Encryption::Authority,
            Some("verify_identity") => Encryption::Name,
            Some(_) => return Err(refused("sslMode")),
            None if of("useSSL").is_some() && !is("useSSL") => Encryption::Never,
            None if is("verifyServerCertificate") => Encryption::Authority,
            None if is("requireSSL") => Encryption::Always,
            None => Encryption::WhereOffered,
        },
        DatabaseDriver::Sqlite => Encryption::Never,
    };
    let file = of("sslrootcert").or(of("serverSslCert"));
    address.authorities = file.map(str::to_owned);
    Ok(())
}

/// A URL without the values of passwords.
pub(crate) fn without_password(url: &str) -> String {
    let Some((place, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}=***"),
        _ => pair.to_owned(),
    });
    format!("{place}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// A text without percent escapes.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3);
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, escaped) {
            (b'%', Some(escaped)) => {
                out.push(escaped);
                at += 3;
            }
            (byte, _) => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lead_to_hosts_files_and_memory() {
        use DatabaseDriver::{MariaDb, MySql, Postgres, Sqlite};
        for (driver, url, host, port, database, file) in [
            (
                Postgres,
                "jdbc:postgresql://db:6543/shop",
                "db",
                6543,
                "shop",
                None,
            ),
            (
                Postgres,
                "jdbc:postgresql://[::1]/a%20b",
                "::1",
                5432,
                "a b",
                None,
            ),
            (
                Postgres,
                "jdbc:postgresql:shop",
                "localhost",
                5432,
                "shop",
                None,
            ),
            (
                MariaDb,
                "jdbc:mariadb://db/shop?user=u",
                "db",
                3306,
                "shop",
                None,
            ),
            (
                MariaDb,
                "jdbc:mysql://db/shop?permitMysqlScheme",
                "db",
                3306,
                "shop",
                None,
            ),
            (
                MySql,
                "jdbc:mysql://db:33/?useSSL=false",
                "db",
                33,
                "",
                None,
            ),
            (
                Sqlite,
                "jdbc:sqlite:/tmp/a.db",
                "localhost",
                3306,
                "",
                Some("/tmp/a.db"),
            ),
            (Sqlite, "jdbc:sqlite::memory:", "localhost", 3306, "", None),
        ] {
            let found = parse(driver, url, &[]).expect(url);
            assert_eq!((found.host.as_str(), found.port), (host, port), "{url}");
            assert_eq!(found.database, database, "{url}");
            assert_eq!(found.file.as_deref(), file, "{url}");
        }
    }

    #[test]
    fn what_the_driver_would_do_differently_is_refused() {
        use DatabaseDriver::{MariaDb, Postgres, Sqlite};
        for (driver, url, key) in [
            (Postgres, "jdbc:mysql://db/shop", "jmx-jdbc-url"),
            (MariaDb, "jdbc:mysql://db/shop", "jmx-jdbc-url"),
            (Postgres, "jdbc:postgresql://a,b/shop", "jmx-jdbc-hosts"),
            (Postgres, "jdbc:postgresql://a:x/shop", "jmx-jdbc-url"),
            (
                Postgres,
                "jdbc:postgresql://a/shop?sslfactory=own.Factory",
                "jmx-jdbc-option",
            ),
            (
                MariaDb,
                "jdbc:mariadb://a/shop?sslMode=often",
                "jmx-jdbc-option",
            ),
            (
                Postgres,
                "jdbc:postgresql://a/shop?stringtype=unspecified",
                "jmx-jdbc-option",
            ),
            (Sqlite, "jdbc:sqlite:a.db?cache=shared", "jmx-jdbc-option"),
            (Sqlite, "jdbc:sqlite:file:a.db", "jmx-jdbc-url"),
        ] {
            assert_eq!(parse(driver, url, &[]).expect_err(url).key, key, "{url}");
        }
    }

    #[test]
    fn encryption_is_what_the_driver_would_do() {
        use DatabaseDriver::{MariaDb, MySql, Postgres};
        for (driver, query, encryption) in [
            (Postgres, "", Encryption::WhereOffered),
            (Postgres, "ssl=true", Encryption::Name),
            (Postgres, "ssl=true&sslmode=require", Encryption::Always),
            (Postgres, "sslmode=verify-ca", Encryption::Authority),
            (
                Postgres,
                "ssl=true&sslfactory=org.postgresql.ssl.NonValidatingFactory",
                Encryption::Always,
            ),
            (MariaDb, "", Encryption::Never),
            (MariaDb, "sslMode=trust", Encryption::Always),
            (MariaDb, "useSsl=true", Encryption::Name),
            (MySql, "", Encryption::WhereOffered),
            (MySql, "useSSL=false", Encryption::Never),
            (MySql, "useSSL=true&requireSSL=true", Encryption::Always),
            (MySql, "sslMode=VERIFY_IDENTITY", Encryption::Name),
        ] {
            let name = match driver {
                Postgres => "postgresql",
                MariaDb => "mariadb",
                _ => "mysql",
            };
            let url = format!("jdbc:{name}://h/d?{query}");
            let found = parse(driver, &url, &[]).expect(&url);
            assert_eq!(found.encryption, encryption, "{url}");
        }
        let with_file = "jdbc:postgresql://h/d?sslmode=verify-full&sslrootcert=/a%20b.pem";
        let found = parse(Postgres, with_file, &[]).expect(with_file);
        assert_eq!(found.authorities.as_deref(), Some("/a b.pem"));
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(
            without_password("jdbc:mysql://h/d?user=u&password=geheim&x=1"),
            "jdbc:mysql://h/d?user=u&password=***&x=1"
        );
    }
}
