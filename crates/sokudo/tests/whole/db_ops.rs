//! Dumps and restores as commands: what the programs of the servers get, and what is left after them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::process::{Pid, test_kill_process};
use sokudo_testkit::databases;
use sokudo_testkit::program::{Running, Sokudo};

use crate::vocabulary::{BOUND, Place, place, refused, told};

/// A program that stands in the PATH before the real one of this name.
fn stand_in(place: &Place, name: &str, script: &str) {
    let bin = place.path().join("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let path = bin.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its owner");
}

/// The program, with stand-ins before the real programs and a folder for temporary files of its own.
fn sokudo(place: &Place, line: &str) -> Sokudo {
    let temporary = temporary(place);
    std::fs::create_dir_all(&temporary).expect("a folder");
    let bin = place.path().join("bin").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    place
        .sokudo(line)
        .env("TMPDIR", &temporary.display().to_string())
        .env("PATH", &format!("{bin}:{path}"))
}

fn temporary(place: &Place) -> PathBuf {
    place.path().join("temporary")
}

/// Nothing is left of a dump.
#[track_caller]
fn clean(place: &Place) {
    let left = std::fs::read_dir(temporary(place)).expect("a folder");
    let left: Vec<PathBuf> = left.flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

/// A stand-in that notes arguments, environment and files of the folder of its dump, then is the real one.
fn noting(real: &str) -> String {
    format!(
        "printf '%s\\n' \"$0\" \"$@\" >> words; env >> words\n\
         stat -c '%a %n' \"$TMPDIR\"/sokudo-dump-* \"$TMPDIR\"/sokudo-dump-*/* >> modes\n\
         exec {real} \"$@\""
    )
}

/// Checks the notes of the stand-ins: no password, and files that only their owner can read.
fn noted(place: &Place, program: &str) {
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("notes");
    let words = read("words");
    assert!(words.contains(&format!("/{program}\n")), "{words}");
    assert!(!words.contains("geheim"), "{words}");
    for line in read("modes").lines() {
        let is_folder = line
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("sokudo-dump-"));
        let mode = if is_folder { "700 " } else { "600 " };
        // The programs make the dump themselves, in the folder.
        assert!(line.starts_with(mode) || line.ends_with("/dump"), "{line}");
    }
}

#[test]
fn passwords_reach_programs_in_private_files_and_nothing_is_left() {
    let servers = [
        (databases::postgres(&[]), ["pg_dump", "pg_restore"]),
        (databases::mariadb(), ["mariadb-dump", "mariadb"]),
    ];
    for (server, programs) in servers {
        let Some(server) = server else {
            continue;
        };
        let place = place();
        let dsn = server.dsn();
        place.run(&format!("db init --target {dsn}")).expect_code(0);
        for name in programs {
            stand_in(&place, name, &noting(&format!("/usr/bin/{name}")));
        }
        // MariaDB refuses a password for a user who has none.
        let dsn = match programs.contains(&"pg_dump") {
            true => dsn.replace("bench@", "bench:geheim@"),
            false => with_password(&place, &dsn),
        };
        sokudo(
            &place,
            &format!("db ops --target {dsn} --only dump,restore"),
        )
        .run()
        .expect_code(0)
        .expect_stdout("dump in ")
        .expect_stdout("100 k rows of 4 tables")
        .expect_stdout("every restored table has the rows of the source");
        for name in programs {
            noted(&place, name);
        }
        clean(&place);
        let line = format!("db ops --target {dsn} --only dump,restore --lang ja");
        sokudo(&place, &line)
            .run()
            .expect_code(0)
            .expect_stdout("リストアしたすべての表の行が元のデータベースと一致");
    }
}

/// Gives the user of a MariaDB server a password; returns the data source name with it.
fn with_password(place: &Place, dsn: &str) -> String {
    let port = dsn
        .rsplit(':')
        .next()
        .and_then(|rest| rest.split('/').next());
    let port = port.expect("a port");
    let sql = "alter user bench@'127.0.0.1' identified by 'geheim'; \
               alter user bench@localhost identified by 'geheim'";
    let words = [
        "--no-defaults",
        "-h127.0.0.1",
        "-ubench",
        "-P",
        port,
        "-e",
        sql,
    ];
    let done = Sokudo::of("/usr/bin/mariadb".as_ref(), words)
        .dir(place.path())
        .run();
    done.expect_code(0);
    dsn.replace("bench@", "bench:geheim@")
}

#[test]
fn a_file_is_dumped_and_restored_and_nothing_is_left() {
    let place = place();
    place.run("db init --target sqlite:a.db").expect_code(0);
    sokudo(
        &place,
        "db ops --target sqlite:a.db --only dump,vacuum,restore",
    )
    .run()
    .expect_code(0)
    .expect_stdout("vacuum in ")
    .expect_stdout("every restored table has the rows of the source");
    clean(&place);
}

#[test]
fn a_restore_that_loses_rows_fails_the_check() {
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let place = place();
    let dsn = server.dsn();
    place.run(&format!("db init --target {dsn}")).expect_code(0);
    // Leaves one row out.
    let script = "/usr/bin/pg_restore \"$@\" || exit 1\n\
        for word in \"$@\"; do case $word in --dbname=*) name=${word#--dbname=};; esac; done\n\
        exec psql -q -d \"$name\" -c 'delete from tpcb_tellers where tid = 7'";
    stand_in(&place, "pg_restore", script);
    sokudo(
        &place,
        &format!("db ops --target {dsn} --only dump,restore"),
    )
    .run()
    .expect_code(1)
    .expect_stdout("tpcb_tellers: 9 rows with the checksum ")
    .expect_stdout("the source has 10 with ")
    .expect_stdout("a restored table differs");
    clean(&place);
}

#[test]
fn what_stands_in_the_way_is_told_with_the_way_out() {
    let place = place();
    let ended = place.run("db ops --target sqlite:a.db --only restore,dump");
    refused(&ended, "no dump before it", "dump,restore");
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    place.run(&format!("db init --target {dsn}")).expect_code(0);
    let line = format!("db ops --target {dsn} --only dump,restore");
    let nowhere = sokudo(&place, &line).env("PATH", "/nonexistent").run();
    refused(
        &nowhere,
        "`pg_dump` is not installed",
        "`postgresql-client`",
    );
    stand_in(
        &place,
        "pg_dump",
        "echo 'server version mismatch' >&2; exit 1",
    );
    let ended = sokudo(&place, &line).run();
    ended.expect_code(3);
    told(&ended, "server version mismatch", "version");
    stand_in(&place, "pg_dump", "exec sleep 1000");
    let ended = sokudo(&place, &format!("{line} --timeout 300ms")).run();
    ended.expect_code(3);
    told(&ended, "took longer than 300 ms", "--timeout");
    clean(&place);
}

/// Waits until the stand-in has noted its process.
fn process(path: &Path, running: &mut Running) -> Pid {
    let begun = Instant::now();
    loop {
        running.must_run();
        let noted = std::fs::read_to_string(path).unwrap_or_default();
        if let Some(pid) = noted.strip_suffix('\n').and_then(|pid| pid.parse().ok()) {
            return Pid::from_raw(pid).expect("a process");
        }
        assert!(begun.elapsed() < BOUND, "it does not start");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Interrupts a dump and restore while this stand-in runs; the process is gone afterwards, and so is its folder.
#[track_caller]
fn interrupted(dsn: &str, name: &str, script: &str) {
    let place = place();
    stand_in(&place, name, &format!("echo $$ > process; exec {script}"));
    let line = format!("db ops --target {dsn} --only dump,restore");
    let mut running = sokudo(&place, &line).start();
    let pid = process(&place.path().join("process"), &mut running);
    running.interrupt();
    let ended = running.finish();
    ended.expect_code(3).expect_stderr("interrupted");
    assert!(test_kill_process(pid).is_err(), "{name} goes on");
    clean(&place);
}

#[test]
fn an_interrupt_ends_the_program_and_leaves_nothing() {
    let Some(server) = databases::postgres(&[]) else {
        return;
    };
    let dsn = server.dsn();
    place()
        .run(&format!("db init --target {dsn}"))
        .expect_code(0);
    for name in ["pg_dump", "pg_restore"] {
        interrupted(&dsn, name, "sleep 1000");
    }
    let names = "select count(*) from pg_database where datname like 'sokudo%'";
    let asked = [
        "-h127.0.0.1",
        "-Ubench",
        "-dbench",
        "-At",
        "-c",
        names,
        "-p",
    ];
    let port = server.port.to_string();
    let ended = Sokudo::of("psql".as_ref(), asked.into_iter().chain([port.as_str()])).run();
    ended.expect_code(0);
    assert_eq!(ended.stdout, "0\n", "{ended}");
}

#[test]
fn an_interrupt_drops_a_database_on_mariadb_that_is_locked() {
    let Some(server) = databases::mariadb() else {
        return;
    };
    let dsn = server.dsn();
    place()
        .run(&format!("db init --target {dsn}"))
        .expect_code(0);
    interrupted(&dsn, "mariadb-dump", "sleep 1000");
    // The server goes on with it after its client was killed.
    let locks = "create table t (a int); lock tables t write; select sleep(1000)";
    interrupted(
        &dsn,
        "mariadb",
        &format!("/usr/bin/mariadb \"$@\" -e '{locks}'"),
    );
    let asked = [
        "--no-defaults",
        "-h127.0.0.1",
        "-ubench",
        "-e",
        "show databases like 'sokudo%'",
        "-P",
    ];
    let port = server.port.to_string();
    let asked = asked.into_iter().chain([port.as_str()]);
    let ended = Sokudo::of("/usr/bin/mariadb".as_ref(), asked).run();
    ended.expect_code(0);
    assert_eq!(ended.stdout, "", "{ended}");
}
