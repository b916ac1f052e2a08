//! Causes at databases and disks that others share, fill or hold.

use crate::case::Case;
use crate::family::{
    CONFLICTS, DATA_READS, DATABASE_NEIGHBOUR, EMBEDDED_LOG, FAILURES, HELD_FILE, HELD_LOCK,
    LOCK_TIMEOUTS, LOG, READING, SERVER_PAUSES, SESSIONS, STANDBY, WRITING,
};
use crate::world::{Engine, Event, Side, World};

use super::databases::NO_DISK;

/// A session of somebody else on PostgreSQL, from the host of the server.
const PSQL: &str = "psql -q -h 127.0.0.1 -p PORT -U bench -d bench";
/// What such a session answers is one value a line.
const VALUES: &str = "-At";

/// Somebody else changes a setting of a PostgreSQL server while it runs.
fn sets(world: &mut World, at: f64, change: &str) {
    let command = format!("{PSQL} -c \"{change}\" -c 'select pg_reload_conf()' > /dev/null");
    world.at(at, Event::Command(Side::Serving, command));
}

pub const ALL: &[Case] = &[
    Case {
        name: "commits-wait-for-a-standby",
        says: [
            "commits wait for a standby that is not there, s",
            "いないスタンバイをコミットが待つ、秒",
        ],
        family: &STANDBY,
        strengths: [0.6, 1.4],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 6 --variant no-branch --duration 5s",
            "tpcb --target postgres://bench@HOST/bench -c 8 --variant no-branch --rate 60/s --duration 5s",
        ],
        make: |world, seconds| {
            // A commit that waits for nothing would not wait for a standby either.
            world.database(Engine::Postgres, 4, &["fsync=off", "full_page_writes=off"]);
            sets(
                world,
                0.7,
                "alter system set synchronous_standby_names = 'gone'",
            );
            sets(
                world,
                0.7 + seconds,
                "alter system set synchronous_standby_names = ''",
            );
        },
    },
    Case {
        name: "database-gives-up-on-locks",
        says: [
            "a bound on the wait for the one row that 16 clients change, ms",
            "16 クライアントが変える 1 行を待つ時間の上限、ms",
        ],
        family: &LOCK_TIMEOUTS,
        strengths: [30.0, 10.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 16"],
        make: |world, ms| {
            let bound = format!("lock_timeout={}", ms.round());
            world.database(Engine::Postgres, 1, &[&bound]);
        },
    },
    Case {
        name: "database-transactions-conflict",
        says: [
            "so many clients whose serializable transactions change one row of four",
            "4 行のうち 1 行を変える直列化可能トランザクションの、これだけのクライアント",
        ],
        family: &CONFLICTS,
        strengths: [6.0, 16.0],
        loads: &["sqlmix --target postgres://bench@HOST/bench --file serial.sql -c {}"],
        make: |world, _| {
            world.files.push((
                "serial.sql",
                "\\set a random(1, 4)\nbegin isolation level serializable;\n\
                 select sum(bbalance) from tpcb_branches;\n\
                 update tpcb_branches set bbalance = bbalance + 1 where bid = :a;\ncommit;\n",
            ));
            world.database(Engine::Postgres, 4, NO_DISK);
        },
    },
    Case {
        name: "database-keys-collide",
        says: [
            "new accounts whose numbers are drawn below this, of which the first 100,000 exist",
            "この数より小さい番号を引く新しい口座、最初の 100,000 は既にある",
        ],
        family: &FAILURES,
        strengths: [400_000.0, 130_000.0],
        loads: &[
            "sqlmix --target postgres://bench@HOST/bench --file opens.sql -D top={} -c 8",
            "sqlmix --target postgres://bench@HOST/bench --file opens.sql -D top={} -c 8 --rate 200/s",
        ],
        make: |world, _| {
            world.files.push((
                "opens.sql",
                "\\set a random(1, :top)\ninsert into tpcb_accounts (aid, bid, abalance) values (:a, 1, 0);\n",
            ));
            world.database(Engine::Postgres, 1, NO_DISK);
        },
    },
    Case {
        name: "mariadb-table-is-locked",
        says: [
            "somebody else locks a table of MariaDB, again and again, ms at a time",
            "ほかの誰かが MariaDB の表を繰り返しロックする、1 回の ms",
        ],
        family: &HELD_LOCK,
        strengths: [300.0, 900.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 6 --duration 5s"],
        make: |world, ms| {
            world.database(Engine::MariaDb, 4, &["innodb-flush-log-at-trx-commit=0"]);
            let seconds = ms / 1e3;
            let hold = format!(
                "lock tables tpcb_accounts write; select sleep({seconds:.3}); unlock tables; select sleep(0.2);"
            );
            let command = format!(
                "yes \"{hold}\" | head -n 100 | timeout 8 mariadb -h 127.0.0.1 -P PORT -u bench bench > /dev/null 2>&1 &"
            );
            world.at(0.3, Event::Command(Side::Serving, command));
        },
    },
    Case {
        name: "mariadb-waits-for-its-disk",
        says: [
            "a disk that takes so many writes a second from MariaDB",
            "MariaDB から毎秒この数の書き込みしか受けないディスク",
        ],
        family: &LOG,
        strengths: [120.0, 300.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 8 --variant no-branch"],
        make: |world, writes| {
            // What fills the disk besides the log would stop everything for seconds.
            let settings = [
                "innodb-doublewrite=0",
                "innodb-io-capacity=100",
                "innodb-adaptive-flushing=0",
                "innodb-max-dirty-pages-pct=99",
                "innodb-buffer-pool-size=128M",
            ];
            world.database(Engine::MariaDb, 1, &settings);
            world.writes_slowly(Side::Serving, writes);
        },
    },
    Case {
        name: "mariadb-grants-few-sessions",
        says: [
            "a MariaDB that grants so few sessions for 24 clients",
            "24 クライアントにわずかなセッションしか許さない MariaDB",
        ],
        family: &SESSIONS,
        strengths: [11.0, 18.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 24"],
        make: |world, most| {
            let most = format!("max-connections={}", most.round());
            world.database(Engine::MariaDb, 1, &[&most]);
        },
    },
    Case {
        name: "mariadb-reads-from-its-disk",
        says: [
            "a MariaDB with little memory and a disk with so many reads a second",
            "メモリーがわずかで、ディスクが毎秒この数しか読めない MariaDB",
        ],
        family: &DATA_READS,
        strengths: [120.0, 400.0],
        loads: &["tpcb --target mysql://bench@HOST/bench -c 8 --variant select"],
        make: |world, reads| {
            let settings = [
                "innodb-buffer-pool-size=8M",
                "innodb-flush-method=O_DIRECT",
                "innodb-flush-log-at-trx-commit=0",
            ];
            world.database(Engine::MariaDb, 4, &settings);
            world.reads_slowly(Side::Serving, reads);
        },
    },
    Case {
        name: "database-reads-from-its-disk",
        says: [
            "a PostgreSQL whose tables are in no memory and a disk with so many reads a second",
            "表がどのメモリーにもなく、ディスクが毎秒この数しか読めない PostgreSQL",
        ],
        family: &DATA_READS,
        strengths: [120.0, 400.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 8 --variant select"],
        make: |world, reads| {
            let settings = [NO_DISK, &["shared_buffers=1MB", "autovacuum=off"]].concat();
            world.database(Engine::Postgres, 8, &settings);
            // What the making of the tables has left in the memory of the system leaves it.
            let forgets = format!(
                "for word in \"$@\"; do case $word in postgres://*) psql -q \"$word\" -c checkpoint > /dev/null; \
                 data=$(psql {VALUES} \"$word\" -c 'show data_directory');; esac; done\n\
                 find \"$data/base\" -type f -size +7k -exec \
                 dd status=none of={{}} oflag=nocache conv=notrunc,fdatasync count=0 \\;"
            );
            world.within(Side::Asking, forgets);
            world.reads_slowly(Side::Serving, reads);
        },
    },
    Case {
        name: "database-sessions-stand-still",
        says: [
            "the sessions of a database are stopped, s",
            "データベースのセッションが止められる、秒",
        ],
        family: &SERVER_PAUSES,
        strengths: [0.5, 1.2],
        loads: &[
            "tpcb --target postgres://bench@HOST/bench -c 4 --duration 5s",
            "tpcb --target postgres://bench@HOST/bench -c 8 --rate 60/s --duration 5s",
        ],
        make: |world, seconds| {
            world.database(Engine::Postgres, 4, NO_DISK);
            let command = format!(
                "all=$({PSQL} {VALUES} -c \"select pid from pg_stat_activity where client_port > 0 and pid <> pg_backend_pid()\")\n\
                 kill -STOP $all; sleep {seconds:.3}; kill -CONT $all"
            );
            world.at(0.7, Event::Command(Side::Serving, command));
        },
    },
    Case {
        name: "neighbours-of-a-database",
        says: [
            "other programs on the core of a database, threads",
            "データベースのコアの他のプログラム、スレッド数",
        ],
        family: &DATABASE_NEIGHBOUR,
        strengths: [2.0, 4.0],
        loads: &["tpcb --target postgres://bench@HOST/bench -c 4 --variant select --duration 5s"],
        make: |world, threads| {
            world.database(Engine::Postgres, 4, NO_DISK);
            let command = format!(
                "for id in $({PSQL} {VALUES} -c 'select pid from pg_stat_activity'); do taskset -p -c 1 $id; done > /dev/null 2>&1; true"
            );
            world.at(0.1, Event::Command(Side::Serving, command));
            world.hogs.push((1, threads.round() as usize));
        },
    },
    Case {
        name: "somebody-locks-the-file",
        says: [
            "somebody else locks the file of SQLite, again and again, ms at a time",
            "ほかの誰かが SQLite のファイルを繰り返しロックする、1 回の ms",
        ],
        family: &HELD_FILE,
        strengths: [250.0, 700.0],
        loads: &["tpcb --target sqlite:bench.db -c 4 --duration 4s"],
        make: |world, ms| {
            world.needs("sqlite3", "no program that locks the file (sqlite3)");
            let seconds = ms / 1e3;
            let hold = format!(
                "begin immediate;\\n.shell sleep {seconds:.3}\\ncommit;\\n.shell sleep 0.1\\n"
            );
            world.within(
                Side::Asking,
                format!(
                    "\"$1\" db init --target sqlite:bench.db > /dev/null\n\
                     (sleep 0.8; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '{hold}'; done | \
                     timeout 5 sqlite3 -cmd '.timeout 2000' bench.db) > /dev/null 2>&1 &"
                ),
            );
        },
    },
    Case {
        name: "embedded-database-waits-for-its-disk",
        says: [
            "a disk that takes so many writes a second from SQLite",
            "SQLite から毎秒この数の書き込みしか受けないディスク",
        ],
        family: &EMBEDDED_LOG,
        strengths: [60.0, 150.0],
        loads: &["tpcb -c 4"],
        make: |world, writes| world.writes_slowly(Side::Asking, writes),
    },
    Case {
        name: "replica-on-a-slow-disk",
        says: [
            "each file is on the receiver's device before the next one, which takes so many writes a second",
            "1 ファイルずつ書き終える受信側のデバイスの毎秒の書き込み数",
        ],
        family: &WRITING,
        strengths: [100.0, 300.0],
        loads: &["replicate dataset:150x20KB HOST:FOLDER --durability file"],
        make: |world, writes| world.writes_slowly(Side::Serving, writes),
    },
    Case {
        name: "replica-from-a-slow-disk",
        says: [
            "files of a disk with so many reads a second",
            "毎秒この数しか読めないディスクのファイル",
        ],
        family: &READING,
        strengths: [40.0, 100.0],
        loads: &["replicate source HOST:null --level none"],
        make: |world, reads| {
            let makes = "mkdir source; for i in 1 2 3 4 5 6 7 8; do head -c 4000000 /dev/urandom > source/$i; \
                         dd status=none of=source/$i oflag=nocache conv=notrunc,fdatasync count=0; done";
            world.within(Side::Asking, makes);
            world.reads_slowly(Side::Asking, reads);
        },
    },
];
