//! Causes at a database, and in front of it.

use crate::case::Case;
use crate::family::{
    CLIENT_POOL, DATABASE_CPU, DRIVER, EMBEDDED, FAILURES, GONE, HELD_LOCK, LOCKS, LOG, QUOTA,
    SESSIONS,
};
use crate::world::{Engine, Event, Side};

/// Settings of a PostgreSQL server whose commits do not wait for a disk.
pub const NO_DISK: &[&str] = &[
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
];

pub const ALL: &[Case] = &[
    Case {
        name: "database-behind-a-small-pool",
        says: [
            "so few sessions that 16 clients of a database share",
            "データベースの 16 クライアントが共有するわずかなセッション",
        ],
        family: &CLIENT_POOL,
        strengths: [1.0, 3.0],
        loads: &[
            "sqlmix --target postgres://bench@HOST/bench --file takes-its-time.sql -c 16 --pool {}",
            "sqlmix --target postgres://bench@HOST/bench --file takes-its-time.sql -c 16 --pool {} --rate 900/s",
        ],
        make: |world, _| {
            world
                .files
                .push(("takes-its-time.sql", "select pg_sleep(0.01);\n"));
            world.database(Engine::Postgres, 4, &[]);
        },
    },
    Case {
        name: "embedded-database-behind-a-small-pool",
        says: [
            "the same in front of a file of SQLite, whose transactions hold a session for 5 ms",
            "SQLite のファイルの前の同じプール。トランザクションはセッションを 5 ms 保持する",
        ],
        family: &CLIENT_POOL,
        strengths: [1.0, 3.0],
        loads: &["sqlmix --file pauses.sql -c 16 --pool {}"],
        make: |world, _| {
            let pauses = "\\sleep 5 ms\nselect 1;\n";
            world.files.push(("pauses.sql", pauses));
        },
    },
    Case {
        name: "database-runs-in-the-load",
        says: [
            "a file of SQLite that so many clients use without a pause",
            "休まないこれだけのクライアントが使う SQLite のファイル",
        ],
        family: &EMBEDDED,
        strengths: [1.0, 8.0],
        loads: &["tpcb -c {}", "dbt1 -c {}", "dbt2 -c {}"],
        make: |_, _| {},
    },
    Case {
        name: "mariadb-behind-a-small-pool",
        says: ["the same in front of MariaDB", "MariaDB の前の同じプール"],
        family: &CLIENT_POOL,
        strengths: [1.0, 3.0],
        loads: &[
            "sqlmix --target mysql://bench@HOST/bench --file takes-its-time.sql -c 16 --pool {}",
        ],
        make: |world, _| {
            world
                .files
                .push(("takes-its-time.sql", "select sleep(0.01);\n"));
            world.database(Engine::MariaDb, 4, &[]);
        },
    },
    Case {
        name: "database-has-one-hot-row",
        says: [
            "so many clients that all change one row",
            "同じ 1 行を変える、これだけのクライアント",
        ],
        family: &LOCKS,
        strengths: [12.0, 32.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c {}"],
        make: |world, _| world.database(Engine::Postgres, 1, &[]),
    },
    Case {
        name: "mariadb-has-one-hot-row",
        says: ["the same in MariaDB", "MariaDB での同じ競合"],
        family: &LOCKS,
        strengths: [12.0, 32.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c {}"],
        make: |world, _| world.database(Engine::MariaDb, 1, &[]),
    },
    Case {
        name: "database-row-is-held",
        says: [
            "somebody else holds a row that all change, again and again, ms at a time",
            "全クライアントが変える行を、ほかの誰かが繰り返し保持する、1 回の ms",
        ],
        family: &HELD_LOCK,
        strengths: [300.0, 900.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 6 --duration 5s"],
        make: |world, ms| {
            world.database(Engine::Postgres, 1, NO_DISK);
            let seconds = ms / 1e3;
            let holds = format!(
                "do $$ begin for i in 1..100 loop perform from tpcb_branches where bid = 1 for update; \
                 perform pg_sleep({seconds:.3}); commit; perform pg_sleep(0.05); end loop; end $$"
            );
            let command = format!(
                "timeout 8 psql -q -h 127.0.0.1 -p PORT -U bench -d bench -c '{holds}' > /dev/null 2>&1 &"
            );
            world.at(0.3, Event::Command(Side::Serving, command));
        },
    },
    Case {
        name: "database-table-is-locked",
        says: [
            "somebody else locks a table, again and again, ms at a time",
            "ほかの誰かが表を繰り返しロックする、1 回の ms",
        ],
        family: &HELD_LOCK,
        strengths: [300.0, 900.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 6 --duration 5s"],
        make: |world, ms| {
            world.database(Engine::Postgres, 4, NO_DISK);
            let seconds = ms / 1e3;
            let holds = format!(
                "do $$ begin for i in 1..100 loop lock table tpcb_accounts in access exclusive mode; \
                 perform pg_sleep({seconds:.3}); commit; perform pg_sleep(0.05); end loop; end $$"
            );
            let command = format!(
                "timeout 8 psql -q -h 127.0.0.1 -p PORT -U bench -d bench -c '{holds}' > /dev/null 2>&1 &"
            );
            world.at(0.3, Event::Command(Side::Serving, command));
        },
    },
    Case {
        name: "database-clients-wait-in-circles",
        says: [
            "so many clients that change two rows of four in any order",
            "4 行のうち 2 行を任意の順で変える、これだけのクライアント",
        ],
        family: &LOCKS,
        strengths: [6.0, 16.0],
        loads: &[
            "sqlmix --target postgres://bench@HOST/bench --file crosses.sql -c {} --duration 5s",
        ],
        make: |world, _| {
            world.files.push((
                "crosses.sql",
                "\\set a random(1, 4)\n\\set b random(1, 4)\nbegin;\nupdate tpcb_branches set bbalance = bbalance + 1 where bid = :a;\n\
                 update tpcb_branches set bbalance = bbalance + 1 where bid = :b;\ncommit;\n",
            ));
            world.database(Engine::Postgres, 4, NO_DISK);
        },
    },
    Case {
        name: "mariadb-row-is-held",
        says: ["the same of a row in MariaDB", "MariaDB での、行の同じ保持"],
        family: &HELD_LOCK,
        strengths: [300.0, 900.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 6 --duration 5s"],
        make: |world, ms| {
            world.database(Engine::MariaDb, 1, &[]);
            let seconds = ms / 1e3;
            let hold = format!(
                "begin; select * from tpcb_branches where bid = 1 for update; select sleep({seconds:.3}); commit; select sleep(0.05);"
            );
            let command = format!(
                "yes \"{hold}\" | head -n 100 | timeout 8 mariadb -h 127.0.0.1 -P PORT -u bench bench > /dev/null 2>&1 &"
            );
            world.at(0.3, Event::Command(Side::Serving, command));
        },
    },
    Case {
        name: "database-waits-for-its-disk",
        says: [
            "a disk that takes so many writes a second from the database",
            "データベースから毎秒この数の書き込みしか受けないディスク",
        ],
        family: &LOG,
        strengths: [60.0, 150.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 8 --variant no-branch"],
        make: |world, writes| {
            world.database(Engine::Postgres, 4, &[]);
            world.writes_slowly(Side::Serving, writes);
        },
    },
    Case {
        name: "database-grants-few-sessions",
        says: [
            "a server that grants so few sessions for 24 clients",
            "24 クライアントにわずかなセッションしか許さないサーバー",
        ],
        family: &SESSIONS,
        strengths: [8.0, 16.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 24"],
        make: |world, most| {
            let most = format!("max_connections={}", most.round());
            world.database(Engine::Postgres, 1, &[&most, "max_wal_senders=0"]);
        },
    },
    Case {
        name: "database-cancels-statements",
        says: [
            "a bound on the time of statements, of which each takes 2 to 22 ms, ms",
            "2〜22 ms かかる文に対する時間の上限、ms",
        ],
        family: &FAILURES,
        strengths: [17.0, 9.0],
        loads: &["sqlmix --target postgres://bench@HOST/bench --file bounded.sql -D ms={} -c 8"],
        make: |world, _| {
            world.files.push((
                "bounded.sql",
                "select set_config('statement_timeout', cast(:ms as text), false);\nselect pg_sleep(0.002 + random() * 0.02);\n",
            ));
            world.database(Engine::Postgres, 1, NO_DISK);
        },
    },
    Case {
        name: "database-computes",
        says: [
            "queries that compute, for so many clients",
            "これだけのクライアントの、計算の多い問い合わせ",
        ],
        family: &DATABASE_CPU,
        strengths: [4.0, 10.0],
        loads: &["sqlmix --target postgres://bench@HOST/bench --file computes.sql -c {}"],
        make: |world, _| {
            world.files.push((
                "computes.sql",
                "select count(*) from tpcb_accounts where (aid * 7 + abalance) % 11 = 3;\n",
            ));
            world.database(Engine::Postgres, 1, NO_DISK);
        },
    },
    Case {
        name: "mariadb-computes",
        says: ["the same in MariaDB", "MariaDB での同じ計算"],
        family: &DATABASE_CPU,
        strengths: [4.0, 10.0],
        loads: &["sqlmix --target mysql://bench@HOST/bench --file computes.sql -c {}"],
        make: |world, _| {
            world.files.push((
                "computes.sql",
                "select count(*) from tpcb_accounts where (aid * 7 + abalance) % 11 = 3;\n",
            ));
            world.database(Engine::MariaDb, 1, &[]);
        },
    },
    Case {
        name: "database-has-a-quota",
        says: [
            "a bound on the database's CPU time, % of a core",
            "データベースの CPU 時間の制限、コアの %",
        ],
        family: &DATABASE_CPU,
        strengths: [15.0, 40.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 8 --variant no-branch"],
        make: |world, percent| {
            world.database(Engine::Postgres, 4, NO_DISK);
            world.quota = Some((Side::Serving, percent / 100.0));
        },
    },
    Case {
        name: "database-is-driven-by-a-slow-thread",
        says: [
            "a bound on the CPU time of the load itself, % of a core",
            "負荷自身の CPU 時間の制限、コアの %",
        ],
        family: &QUOTA,
        strengths: [5.0, 15.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 8 --variant select"],
        make: |world, percent| {
            world.database(Engine::Postgres, 1, NO_DISK);
            world.quota = Some((Side::Asking, percent / 100.0));
        },
    },
    Case {
        name: "database-is-driven-by-one-thread",
        says: [
            "one thread that drives so many clients, which only read",
            "読むだけのクライアントをこれだけ動かす 1 スレッド",
        ],
        family: &DRIVER,
        // With more of them the sessions take the rest of a machine of two cores, and the thread waits for it.
        strengths: [10.0, 18.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c {} --variant select"],
        make: |world, _| world.database(Engine::Postgres, 1, NO_DISK),
    },
    Case {
        name: "database-is-killed",
        says: [
            "a server that ends at once after so many ms",
            "この ms 後にいきなり終わるサーバー",
        ],
        family: &GONE,
        strengths: [600.0, 1500.0],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 4",
            "tpcb --target postgres://bench@HOST/bench -c 8 --rate 60/s",
        ],
        make: |world, ms| {
            world.database(Engine::Postgres, 2, &[]);
            world.at(ms / 1e3, Event::Kill);
        },
    },
    Case {
        name: "database-is-restarted",
        says: [
            "a server that ends at once and is started again, after so many ms",
            "この ms 後にいきなり終わり、再び起動するサーバー",
        ],
        family: &GONE,
        strengths: [600.0, 1200.0],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 4 --duration 5s",
            "tpcb --target postgres://bench@HOST/bench -c 8 --rate 60/s --duration 5s",
        ],
        make: |world, ms| {
            world.database(Engine::Postgres, 2, &[]);
            world.at(ms / 1e3, Event::Kill);
            world.at(ms / 1e3 + 0.5, Event::Restart);
        },
    },
];
