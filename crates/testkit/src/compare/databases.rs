//! Servers of databases for plans that ask for them.
//!
//! A plan finds host, port and database in the property `postgres` or `mariadb`; its user is `bench`, without
//! a password. Both programs have databases of their own, whose names are equally long.

use std::path::{Path, PathBuf};

use crate::databases::{DatabaseServer, mariadb, postgres};

/// Names of the databases: ours, JMeter's.
pub(super) const NAMES: [&str; 2] = ["compare_a", "compare_b"];

/// The servers that the plans need.
pub(super) struct Servers {
    postgres: Option<DatabaseServer>,
    mariadb: Option<DatabaseServer>,
}

impl Servers {
    /// Starts what the plans need. Those whose server is not installed here are left out, with the reason
    /// printed.
    pub fn of(mut plans: Vec<PathBuf>) -> (Self, Vec<PathBuf>) {
        let any = |plans: &[PathBuf], name| plans.iter().any(|plan| asks_for(plan, name));
        let begin = |wanted: bool, start: &dyn Fn() -> Option<DatabaseServer>| {
            let server = wanted.then(start).flatten();
            server.inspect(|server| NAMES.iter().for_each(|name| server.create(name)))
        };
        let servers = Self {
            postgres: begin(any(&plans, "postgres"), &|| postgres(&["fsync=off"])),
            mariadb: begin(any(&plans, "mariadb"), &mariadb),
        };
        plans.retain(|plan| {
            let misses =
                |name, server: &Option<DatabaseServer>| asks_for(plan, name) && server.is_none();
            !misses("postgres", &servers.postgres) && !misses("mariadb", &servers.mariadb)
        });
        (servers, plans)
    }

    /// The properties by which plans find them.
    pub fn properties(&self, database: &str) -> Vec<(String, String)> {
        let all = [("postgres", &self.postgres), ("mariadb", &self.mariadb)];
        let started = all
            .into_iter()
            .filter_map(|(name, server)| Some((name, server.as_ref()?)));
        started
            .map(|(name, server)| {
                let value = format!("127.0.0.1:{}/{database}", server.port);
                (name.to_owned(), value)
            })
            .collect()
    }
}

fn asks_for(plan: &Path, name: &str) -> bool {
    let text = std::fs::read_to_string(plan).unwrap_or_default();
    text.contains(&format!("${{__P({name})}}"))
}
