//! Warnings about uses of databases that differ here, or surprise in JMeter.

use sokudo_model::Text;

use crate::compile::Compiler;
use crate::plan::{
    ConfigKind, DatabaseDriver, DatabaseQuery, Plan, PostKind, PreKind, SamplerKind,
};
use crate::problem::FilePosition;

/// Refuses result variables that scripts read, and warns about statements that the driver of SQLite reports as
/// failed.
pub(super) fn judge(plan: &Plan, compiler: &mut Compiler<'_>) {
    let queries = queries(plan);
    let reads_objects = || serde_json::json!(plan).to_string().contains("getObject");
    if queries.iter().any(|(_, query)| !query.result.is_empty()) && reads_objects() {
        for (place, query) in queries.iter().filter(|(_, query)| !query.result.is_empty()) {
            let says =
                Text::new("jmx-jdbc-result-variable").word("variable", query.result.to_string());
            let hint = Text::new("jmx-jdbc-result-variable-hint");
            compiler.unsupported(place, says, Some(hint));
        }
    }
    for (place, query) in &queries {
        let is_update = query.query_type.constant() == Some("Update Statement");
        let driver = query.pool.constant().and_then(|pool| driver(plan, pool));
        if is_update && driver == Some(DatabaseDriver::Sqlite) {
            let says = Text::new("jmx-jdbc-sqlite-update");
            compiler.problems.warning((*place).clone(), says);
        }
    }
}

/// The statements of a plan with the places of their elements.
fn queries(plan: &Plan) -> Vec<(&FilePosition, &DatabaseQuery)> {
    let samplers = plan.samplers.iter().map(|it| match &it.kind {
        SamplerKind::Database(query) => Some((&it.place, &**query)),
        _ => None,
    });
    let pres = plan.pre_processors.iter().map(|it| match &it.kind {
        PreKind::Database(query) => Some((&it.place, &**query)),
        _ => None,
    });
    let posts = plan.post_processors.iter().map(|it| match &it.kind {
        PostKind::Database(query) => Some((&it.place, &**query)),
        _ => None,
    });
    samplers.chain(pres).chain(posts).flatten().collect()
}

/// The driver of a pool.
fn driver(plan: &Plan, pool: &str) -> Option<DatabaseDriver> {
    plan.configs.iter().find_map(|config| match &config.kind {
        ConfigKind::Database(database) if database.variable == pool => {
            Some(database.address.as_ref()?.driver)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::files::MemoryFiles;
    use crate::settings::Settings;
    use crate::{Reading, read};

    fn reading(source: &str, rest: &str) -> Reading {
        let text = format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="P"/><hashTree><JDBCDataSource testname="d"><stringProp name="dataSource">db</stringProp>{source}</JDBCDataSource><hashTree/><ThreadGroup testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp><elementProp name="ThreadGroup.main_controller"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">1</intProp></elementProp></ThreadGroup><hashTree>{rest}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
        );
        let text = text.replace(" testname=", " guiclass=\"Gui\" testname=");
        read(
            "p.jmx",
            text.as_bytes(),
            &Settings::default(),
            &MemoryFiles::default(),
        )
    }

    fn source(driver: &str, url: &str) -> String {
        format!(
            r#"<stringProp name="driver">{driver}</stringProp><stringProp name="dbUrl">{url}</stringProp><stringProp name="username">u</stringProp><stringProp name="password">geheim</stringProp>"#
        )
    }

    fn keys(reading: &Reading) -> Vec<&str> {
        reading
            .problems
            .iter()
            .map(|it| it.says.key.as_str())
            .collect()
    }

    const SAMPLER: &str = r#"<JDBCSampler testname="s"><stringProp name="dataSource">db</stringProp><stringProp name="queryType">Update Statement</stringProp><stringProp name="query">select 1</stringProp><stringProp name="resultVariable">rows</stringProp></JDBCSampler><hashTree/>"#;

    #[test]
    fn what_cannot_be_equal_is_refused_before_the_test() {
        for (driver, url, key) in [
            (
                "oracle.jdbc.OracleDriver",
                "jdbc:oracle:thin:@h:1521/x",
                "jmx-jdbc-driver",
            ),
            ("org.postgresql.Driver", "jdbc:mysql://h/d", "jmx-jdbc-url"),
            (
                "org.postgresql.Driver",
                "jdbc:postgresql://h/d?sslfactory=own.Factory",
                "jmx-jdbc-option",
            ),
        ] {
            let reading = reading(&source(driver, url), SAMPLER);
            assert_eq!(keys(&reading), [key]);
            assert_eq!(reading.errors, 1);
            assert!(reading.problems[0].place.is_some());
        }
        let script = r#"<JSR223Sampler testname="j"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="script">return vars.getObject('rows')</stringProp></JSR223Sampler><hashTree/>"#;
        let good = source("org.postgresql.Driver", "jdbc:postgresql://h/d");
        let reading_of = |rest: &str| reading(&good, rest);
        assert!(keys(&reading_of(SAMPLER)).is_empty());
        let both = reading_of(&format!("{SAMPLER}{script}"));
        assert_eq!(keys(&both), ["jmx-jdbc-result-variable"]);
        let lite = source("org.sqlite.JDBC", "jdbc:sqlite:a.db");
        assert_eq!(keys(&reading(&lite, SAMPLER)), ["jmx-jdbc-sqlite-update"]);
    }

    #[test]
    fn passwords_are_not_part_of_the_plan_as_it_is_shown() {
        let url = "jdbc:postgresql://h/d?user=v&amp;password=geheim";
        let reading = reading(&source("org.postgresql.Driver", url), SAMPLER);
        let plan = reading.plan.expect("a plan");
        let shown = serde_json::json!(plan).to_string();
        assert!(
            shown.contains("jdbc:postgresql") && !shown.contains("geheim"),
            "{shown}"
        );
    }
}
