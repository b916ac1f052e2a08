//! Checks loads on databases as commands: without any server, and on real ones.

use sokudo_model::settings::{Commits, Setting};
use sokudo_testkit::databases;

use crate::vocabulary::{place, refused, summary};

/// Numbers that every load on a database tells in its object.
const PROMISED: [&str; 8] = [
    "sql.transactions_per_second",
    "sql.latency_seconds.p50",
    "sql.latency_seconds.p99",
    "sql.error_ratio",
    "sql.attempts",
    "sql.client_cpu_seconds_per_transaction",
    "tpcb.tps",
    "tpcb.scale",
];

#[test]
fn without_a_server_it_loads_a_file_of_its_own_and_checks_it() {
    let place = place();
    let ended = place.run("tpcb -n 200 -c 2 --json");
    ended.expect_code(0);
    let told = summary(&ended);
    told.promises("tpcb", &PROMISED);
    assert_eq!(told.number("sql.transactions"), 200.0, "{ended}");
    assert_eq!(told.number("sql.acknowledged"), 200.0, "{ended}");
    assert_eq!(told.number("sql.lost_acknowledged"), 0.0, "{ended}");
    assert_eq!(told.number("sql.kept_conditions"), 3.0, "{ended}");
    assert_eq!(told.number("sql.broken_conditions"), 0.0, "{ended}");
}

#[test]
fn postgres_is_loaded_and_its_password_is_in_no_record() {
    let Some(server) = databases::postgres(&["synchronous_commit=off"]) else {
        return;
    };
    let place = place();
    let dsn = server.dsn().replace("bench@", "bench:geheim@");
    let none = place.run(&format!("tpcb --target {dsn}"));
    refused(&none, "has no tables of `tpcb`", "sokudo db init");
    let made = place.run(&format!("db init --target {dsn} --scale 2"));
    made.expect_code(0).expect_stdout("200 k rows");
    place
        .run(&format!("db ops --target {dsn} --only vacuum,analyze"))
        .expect_code(0)
        .expect_stdout("vacuum in ")
        .expect_stdout("analyze in ");
    let ended = place.run(&format!("tpcb --target {dsn} -c 4 -d 2500ms --json"));
    ended.expect_code(0);
    let told = summary(&ended);
    assert_eq!(told.number("sql.lost_acknowledged"), 0.0, "{ended}");
    // The server's own state stands beside the load without a further word, unless it is not wanted.
    let series = || place.load().series.into_iter();
    let seen = |name: &str| series().find(|series| series.key.metric == name);
    let sessions = seen("postgres.client_read_ratio").expect("a series of the server");
    assert!(
        sessions.points.iter().any(|point| point.1 > 0.0),
        "{sessions:?}"
    );
    let risky = series().filter_map(|series| Setting::of(&series.key));
    let risky = { risky }.find(|setting| setting.name == "synchronous_commit");
    let risky = risky.map(|setting| (setting.value, setting.commits));
    assert_eq!(risky, Some(("off".into(), Some(Commits::AtRisk))));
    place
        .run("show --lang en")
        .expect_stdout("a crash may lose acknowledged commits")
        .expect_stdout("synchronous_commit=off");
    let up = seen("postgres.up").expect("a series of the server");
    assert!(up.points.iter().all(|point| point.1 == 1.0), "{up:?}");
    let quiet = format!("tpcb --target {dsn} -n 20 --no-server-stats");
    place.run(&quiet).expect_code(0);
    let newest = place.records().pop().expect("a record");
    let newest = sokudo_store::load(&newest).expect("a whole record");
    assert!(newest.series.iter().all(|s| s.key.source != "postgres"));
    place
        .run(&format!("db check --target {dsn}"))
        .expect_code(0)
        .expect_stdout("3 conditions hold");
    // The password is in no record.
    for record in place.records() {
        for file in std::fs::read_dir(record).expect("a record").flatten() {
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            let holds = bytes.windows(6).any(|window| window == b"geheim");
            assert!(!holds, "{}", file.path().display());
        }
    }
}

/// Numbers that order entry tells in its object beside those of all loads on databases.
const OF_ORDERS: [&str; 9] = [
    "sql.transactions_per_second",
    "sql.error_ratio",
    "sql.attempts",
    "sql.client_cpu_seconds_per_transaction",
    "dbt2.new_orders_per_minute",
    "dbt2.warehouses",
    "dbt2.new_orders",
    "dbt2.payment_seconds.p50",
    "dbt2.payment_seconds.p99",
];

#[test]
fn orders_are_entered_and_each_kind_is_told_in_both_languages() {
    let place = place();
    let ended = place.run("dbt2 -n 200 -c 2 --json");
    ended.expect_code(0);
    let told = summary(&ended);
    told.promises("dbt2", &OF_ORDERS);
    assert_eq!(told.number("sql.transactions"), 200.0, "{ended}");
    assert_eq!(told.number("sql.lost_acknowledged"), 0.0, "{ended}");
    assert_eq!(told.number("sql.kept_conditions"), 12.0, "{ended}");
    let records = place.records();
    let record = records.first().expect("a record").display().to_string();
    place
        .run(&format!("report {record} --form markdown --lang en"))
        .expect_code(0)
        .expect_stdout("transactions/s in a closed loop")
        .expect_stdout("not a TPC result")
        .expect_stdout("new orders per minute")
        .expect_stdout("Payment, median");
    place
        .run(&format!("report {record} --form markdown --lang ja"))
        .expect_code(0)
        .expect_stdout("件のトランザクションを実行")
        .expect_stdout("毎分の新規注文");
}

/// Numbers that a web shop tells in its object.
const OF_VISITS: [&str; 5] = [
    "dbt1.bt_per_second",
    "dbt1.customers",
    "dbt1.mix_off_ratio",
    "dbt1.home",
    "dbt1.home_seconds.p99",
];

#[test]
fn a_shop_is_visited_and_each_interaction_is_told_in_both_languages() {
    let place = place();
    let ended = place.run("dbt1 -n 300 -c 2 --mix ordering --json");
    ended.expect_code(0);
    let told = summary(&ended);
    told.promises("dbt1", &OF_VISITS);
    assert_eq!(told.number("sql.transactions"), 300.0, "{ended}");
    assert_eq!(told.number("sql.lost_acknowledged"), 0.0, "{ended}");
    assert_eq!(told.number("sql.kept_conditions"), 8.0, "{ended}");
    let records = place.records();
    let record = records.first().expect("a record").display().to_string();
    place
        .run(&format!("report {record} --form markdown --lang en"))
        .expect_code(0)
        .expect_stdout("not a TPC result")
        .expect_stdout("Buy Confirm, median");
    place
        .run(&format!("report {record} --form markdown --lang ja"))
        .expect_code(0)
        .expect_stdout("毎秒の操作数 (BT/s)");
}

/// Numbers that decision support tells in its object.
const OF_QUESTIONS: [&str; 7] = [
    "dbt3.composite",
    "dbt3.power",
    "dbt3.throughput",
    "dbt3.scale_factor",
    "dbt3.streams",
    "dbt3.query01_seconds.p50",
    "dbt3.refresh_out_seconds.p50",
];

#[test]
fn questions_are_asked_and_their_numbers_are_told_in_both_languages() {
    let place = place();
    let ended = place.run("dbt3 --streams 1 --json");
    ended.expect_code(0);
    let told = summary(&ended);
    told.promises("dbt3", &OF_QUESTIONS);
    assert_eq!(told.number("sql.transactions"), 48.0, "{ended}");
    assert_eq!(told.number("sql.broken_conditions"), 0.0, "{ended}");
    let records = place.records();
    let record = records.first().expect("a record").display().to_string();
    let english = place.run(&format!("report {record} --form markdown --lang en"));
    english
        .expect_code(0)
        .expect_stdout("not a TPC result")
        .expect_stdout("Query 22, idle customers");
    // A stream that waits for the power test has not stopped.
    let stopped = english.stdout.contains("a part of the load only");
    assert!(!stopped, "{english}");
    place
        .run(&format!("report {record} --form markdown --lang ja"))
        .expect_code(0)
        .expect_stdout("クエリー 22 (注文のない顧客)");
}

#[test]
fn mariadb_without_tls_is_refused_with_the_way_out_in_both_languages() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let place = place();
    let dsn = server.dsn().replace("bench@", "bench:geheim@");
    let line = format!("tpcb --target {dsn}?ssl-mode=REQUIRED");
    let ended = place.run(&line);
    refused(&ended, "has no TLS", "ssl-mode=PREFERRED");
    assert!(!ended.stderr.contains("geheim"), "{ended}");
    place
        .run(&format!("{line} --lang ja"))
        .expect_code(2)
        .expect_stderr("TLS がありません")
        .expect_stderr("ssl-mode=PREFERRED");
    let line = format!("tpcb --target {dsn}?ssl-ca=/no/such.pem");
    refused(&place.run(&line), "/no/such.pem", "ssl-ca=FILE");
}

#[test]
fn a_refused_value_is_told_without_its_password() {
    let place = place();
    for line in [
        "tpcb --target oracle://u:geheim@h/d",
        "tpcb --target postgres://u:geheim@h:x/d",
        "db check --target mysql://u:geheim@h:99999/d",
        "http ftp://u:geheim@h/",
        "http http://u:geheim@h:99999/",
    ] {
        let ended = place.run(line);
        ended.expect_code(2);
        assert!(!ended.stderr.contains("geheim"), "{ended}");
    }
}

#[test]
fn mistakes_are_told_before_anything_is_sent() {
    let place = place();
    for (line, says, hint) in [
        ("tpcb -t 4", "cannot share", "one client per thread"),
        ("tpcb --rate 5Mb/s", "not one of bits or bytes", "500/s"),
        ("dbt2 --pace 0", "pace of 0", "1 is as specified"),
        ("dbt1 --think 2m", "up to 60 s", "7s is as specified"),
        ("dbt3 --timeout 2h", "from 1 ms to 1 h", "--timeout"),
        (
            "dbt3 --knee streams=1..4",
            "nothing that could be bounded",
            "dbt3 --help",
        ),
        (
            "dbt3 --find p99<1s",
            "nothing that could be bounded",
            "dbt3 --help",
        ),
        (
            "db init --target sqlite:a.db --workload dbt3 --scale 0.005",
            "not a scale factor",
            "0.01",
        ),
        (
            "db init --target sqlite:a.db --scale 0.5",
            "not a number of branches",
            "whole number",
        ),
        ("dbt2 --pace 1 --rate 5/s", "--rate cannot", "leave out one"),
        (
            "tpcb --target oracle://h/d",
            "not a valid database",
            "--help",
        ),
        (
            "tpcb --target postgres://u:geheim@127.0.0.1:1/d",
            "postgres://127.0.0.1:1/d",
            "server runs there",
        ),
    ] {
        let ended = place.run(line);
        refused(&ended, says, hint);
        assert!(!ended.stderr.contains("geheim"), "{ended}");
    }
}

/// Numbers that a mix tells in its object beside those of all loads on databases.
const OF_MIXES: [&str; 7] = [
    "sql.transactions_per_second",
    "sql.latency_seconds.p99",
    "sql.attempts",
    "sql.pool.max",
    "sql.pool.used",
    "sql.pool.waiting",
    "sql.pool.wait_seconds.mean",
];

fn example(name: &str) -> String {
    format!("{}/../../examples/sql/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn ones_own_mix_is_told_by_transaction_and_a_small_pool_is_the_limit() {
    let place = place();
    place.write("slow.sql", "\\sleep 8 ms\nselect 1;\n");
    let ended = place.run(&format!(
        "sqlmix -n 400 -c 12 --pool 2 --file slow.sql@9 --file {} --json",
        example("point-select.sql")
    ));
    ended.expect_code(0);
    let told = summary(&ended);
    told.promises("sqlmix", &OF_MIXES);
    assert_eq!(told.number("sql.transactions"), 400.0, "{ended}");
    assert_eq!(told.number("sql.attempts"), 400.0, "{ended}");
    assert_eq!(told.number("sql.pool.max"), 2.0, "{ended}");
    let record = place
        .records()
        .first()
        .expect("a record")
        .display()
        .to_string();
    for (lang, texts) in [
        (
            "en",
            [
                "The clients' own pool is the limit:",
                "slow, median",
                "point-select, median",
            ],
        ),
        (
            "ja",
            [
                "クライアント側のプールが限界です。セッション 2 本のうち",
                "slow の中央値",
                "point-select の中央値",
            ],
        ),
    ] {
        let report = place.run(&format!("report {record} --form markdown --lang {lang}"));
        report.expect_code(0);
        texts.iter().for_each(|text| {
            report.expect_stdout(text);
        });
    }
}

#[test]
fn a_pool_that_is_the_limit_is_confirmed_by_raising_it() {
    let place = place();
    place.write("slow.sql", "\\sleep 8 ms\nselect 1;\n");
    let line = "sqlmix -c 12 --pool 2 -d 1s --file slow.sql";
    place.run(line).expect_code(0);
    let record = place.record().display().to_string();
    let proved = place.run(&format!("why {record} --prove --json"));
    let object = proved.stdout.rfind("\n{").map_or(0, |at| at + 1);
    let said: serde_json::Value = serde_json::from_str(&proved.stdout[object..]).expect("JSON");
    assert_eq!(said["cause"], "session_pool", "{proved}");
    let first = place.records().into_iter().next().expect("a record");
    let series = sokudo_store::load(&first).expect("a whole record").series;
    let waits = |series: &&sokudo_model::Series| series.key.metric == "sql.pool.wait_mean_seconds";
    let waits = series.iter().find(waits).expect("waits over time");
    // Ten clients wait behind two that hold a session for 8 ms each.
    assert!(
        waits.points.iter().any(|point| point.1 > 0.008),
        "{waits:?}"
    );
    assert_eq!(said["confirmed"], serde_json::Value::Bool(true), "{proved}");
}

#[test]
fn the_knee_of_a_database_is_found_by_its_dsn() {
    let place = place();
    let dsn = format!("sqlite:{}", place.path().join("bank.db").display());
    place.run(&format!("db init --target {dsn}")).expect_code(0);
    let line = format!("knee {dsn} --param clients=1..4 -d 300ms --variant select --json");
    let ended = place.run(&line);
    let said = summary(&ended);
    assert!(said.number("knee.levels") >= 2.0, "{ended}");
    let phases = place.load().manifest.phases;
    assert!(phases.iter().all(|phase| phase.workload == "tpcb"));
}

#[test]
fn the_first_transaction_of_a_rate_finds_its_client_free() {
    let place = place();
    // Eight clients for five a second: one of them is always free. On a busy machine one may begin late by itself, of
    // which the exit code tells.
    place.run("tpcb -c 8 --rate 5/s -d 1s --variant select");
    let flow = &place.load().manifest.phases[0].result.flows[0];
    assert_eq!(flow.metrics["sql.window_full_ratio"], 0.0);
}

#[test]
fn commits_are_acknowledged_early_where_that_is_asked_for() {
    for (commit, durability) in [
        ("sync", "synchronous=full"),
        ("async", "synchronous=normal"),
    ] {
        // Records of one second have no order.
        let place = place();
        place
            .run(&format!("tpcb -n 50 --commit {commit}"))
            .expect_code(0);
        let record = place.load();
        let flow = &record.manifest.phases[0].result.flows[0];
        assert_eq!(flow.labels["durability"], durability);
    }
}

#[test]
fn a_mix_that_cannot_be_carried_out_is_refused_with_file_line_and_construct() {
    let place = place();
    for (name, text) in [
        ("pipe.sql", "select 1;\n\\startpipeline\n"),
        ("piped.sql", "\\startpipeline\nselect 1;\n\\endpipeline\n"),
        (
            "typo.sql",
            "\\set a random(1, 10)\nselect :a, \\gset\n\\set b :c + 1\n",
        ),
        ("book.toml", "[[transaction]]\nname = \"a\"\nweigth = 2\n"),
        ("table.sql", "\n\nselect * from nowhere;\n"),
    ] {
        place.write(name, text);
    }
    for (line, says, hint) in [
        ("sqlmix", "no transaction to carry out", "--file"),
        (
            "sqlmix --file none.sql",
            "none.sql",
            "script file of pgbench",
        ),
        (
            "sqlmix --file pipe.sql",
            "pipe.sql, line 2: a pipeline does not end",
            "\\endpipeline",
        ),
        ("sqlmix --file piped.sql", "only PostgreSQL", "--target"),
        (
            "sqlmix --file book.toml",
            "book.toml, line 3: unknown field `weigth`",
            "guide",
        ),
        ("sqlmix --file table.sql", "table.sql:3: ", "server"),
        ("sqlmix --file pipe.sql@x", "FILE@3", "--help"),
        (
            "tpcb --target mysql://u@127.0.0.1:1/d --commit async",
            "cannot have its commits",
            "innodb_flush_log_at_trx_commit",
        ),
        (
            "tpcb -t 2 -c 2 --pool 1",
            "cannot share a pool of 1",
            "one session per thread",
        ),
    ] {
        refused(&place.run(line), says, hint);
    }
}

/// Settings that are compared in turns are put back, also when the program that changed them is killed.
#[test]
fn settings_are_compared_in_turns_and_put_back() {
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let place = place();
    let dsn = server.dsn();
    place.run(&format!("db init --target {dsn}")).expect_code(0);
    let before = server.settings();
    place.write(
        "profiles.toml",
        "[lazy]\ncommit_delay = 1000\ncommit_siblings = 0\n[unsafe]\nsynchronous_commit = false\n\
         [restart]\nshared_buffers = \"1MB\"\n",
    );
    // Other tests' programs would put back what this one's leave.
    let config = place.path().join("config").display().to_string();
    let sokudo = |line: &str| place.sokudo(line).env("SOKUDO_CONFIG", &config);
    let compare = |profiles: &str, more: &str| {
        format!(
            "compare --profiles {profiles} --settings {} {more} -- tpcb --target {dsn} -n 20",
            place.path().join("profiles.toml").display()
        )
    };
    for (profiles, says, hint) in [
        (
            "default,unsafe",
            "synchronous_commit=off a crash may",
            "--allow-unsafe",
        ),
        (
            "default,restart",
            "`shared_buffers` needs a restart",
            "stays changed",
        ),
        ("default,none", "no profile `none`", "a table for each"),
        ("default", "nothing to be compared with", "two or more"),
    ] {
        refused(&sokudo(&compare(profiles, "")).run(), says, hint);
    }
    let ended = sokudo(&compare("default,lazy", "--rounds 1")).run();
    ended
        .expect_code(0)
        .expect_stdout("default (again)")
        .expect_stdout("no difference shown");
    assert!(ended.stderr.contains("commit_delay=1000"), "{ended}");
    assert_eq!(server.settings(), before);
    assert_eq!(place.records().len(), 3);
    let running = sokudo(&compare("lazy,default", "--rounds 50")).start();
    let begun = std::time::Instant::now();
    while server.settings() == before {
        assert!(begun.elapsed().as_secs() < 30, "no setting was changed");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running.kill();
    // A measurement that began when its parent was gone has put them back already; else the next program does.
    let next = sokudo(&format!("db check --target {dsn}")).run();
    next.expect_code(0);
    assert_eq!(server.settings(), before);
}
