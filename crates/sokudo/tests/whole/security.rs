//! Tests of access control, and of the secrecy of the key.

use std::fs;
use std::path::Path;

use crate::jmx::far::{far, get, plan, says};
use crate::records::place_with_run;
use crate::vocabulary::{GENTLE, Place, Server, place, refused, serve, serve_with, summary};

/// A server with a new key, and the key.
fn serve_new_key(place: &Place) -> (Server, String) {
    let mut server = serve_with(place.sokudo("serve --new-key --bind 127.0.0.1:0"));
    let key = server
        .running
        .wait_for(|line| line.strip_prefix("key ").map(str::to_owned));
    (server, key)
}

/// A call of the server with a key in the environment.
fn call(place: &Place, server: &Server, key: &str) -> sokudo_testkit::program::Ended {
    place
        .sokudo(&format!(
            "datagram {} --rate {GENTLE} --duration 1s --json",
            server.address
        ))
        .env("SOKUDO_KEY", key)
        .run()
}

/// Another key than the given one, without a typing mistake in it.
fn another_key() -> String {
    sokudo_wire::Key::from_random([7; 32]).to_text()
}

#[test]
fn a_new_key_is_printed_once_and_lets_in() {
    let place = place();
    let (server, key) = serve_new_key(&place);
    let ended = call(&place, &server, &key);
    ended.expect_code(0);
    summary(&ended).adds_up();
    server.running.interrupt();
    let ended = server.running.finish();
    let lines = ended.stdout.lines().filter(|line| line.starts_with("key "));
    assert_eq!(lines.count(), 1, "{ended}");
    assert!(!ended.stderr.contains(&key), "the key stands in the log");
}

#[test]
fn wrong_mistyped_and_missing_keys_are_told_apart() {
    let place = place();
    let (server, key) = serve_new_key(&place);
    let wrong = call(&place, &server, &another_key());
    refused(&wrong, "does not have this key", "SOKUDO_KEY");
    let last = if key.ends_with('a') { 'b' } else { 'a' };
    let mistyped = format!("{}{last}", &key[..key.len() - 1]);
    let ended = call(&place, &server, &mistyped);
    refused(&ended, "mistyped", "copy the whole key");
    assert!(!ended.stderr.contains(&mistyped[4..]), "a key is repeated");
    let short = call(&place, &server, &key[..20]);
    refused(&short, "characters after `sk1-`", "copy the whole key");
    let missing = place.run(&format!("datagram {} --duration 1s", server.address));
    refused(&missing, "wants a key and none was given", "SOKUDO_KEY");
    assert!(place.records().is_empty(), "nothing was measured");
}

#[test]
fn a_key_for_a_server_without_one_is_told() {
    let place = place();
    let server = serve(&place);
    let ended = call(&place, &server, &another_key());
    refused(&ended, "started without a key", "leave the key out");
}

#[test]
fn a_server_can_be_started_again_with_its_key() {
    let place = place();
    let key = another_key();
    let server = serve_with(
        place
            .sokudo("serve --bind 127.0.0.1:0")
            .env("SOKUDO_KEY", &key),
    );
    call(&place, &server, &key).expect_code(0);
    server.running.interrupt();
    let ended = server.running.finish();
    assert!(!ended.stdout.contains(&key), "only a new key is printed");
    assert!(!ended.stderr.contains(&key), "the key stands in the log");
}

#[test]
fn a_key_in_the_environment_is_blamed_by_its_name() {
    let place = place();
    for wish in ["serve --new-key", "serve --open"] {
        let ended = place.sokudo(wish).env("SOKUDO_KEY", &another_key()).run();
        refused(&ended, "cannot be used with '--key", "unset SOKUDO_KEY");
    }
}

#[test]
fn strangers_are_served_only_on_purpose() {
    let place = place();
    let ended = place.run("serve --bind 0.0.0.0:0");
    refused(&ended, "must not listen on `0.0.0.0:0`", "--new-key");
    let open = serve_with(place.sokudo("serve --open --bind 0.0.0.0:0"));
    assert!(open.address.ip().is_unspecified());
    let keyed = serve_with(place.sokudo("serve --new-key --bind 0.0.0.0:0"));
    assert!(keyed.address.ip().is_unspecified());
}

#[test]
fn a_key_is_kept_out_of_the_record() {
    let place = place();
    let (server, key) = serve_new_key(&place);
    let by_environment = call(&place, &server, &key);
    by_environment.expect_code(0);
    let by_option = place.run(&format!(
        "datagram {} --rate {GENTLE} --duration 1s --key {key}",
        server.address
    ));
    by_option.expect_code(0);
    let by_equals = place.run(&format!(
        "datagram {} --rate {GENTLE} --duration 1s --key={key}",
        server.address
    ));
    by_equals.expect_code(0);
    // Neither the text nor the part of it that is the secret.
    let secret = &key["sk1-".len()..];
    for ended in [&by_environment, &by_option, &by_equals] {
        assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret));
    }
    assert_eq!(place.records().len(), 3);
    for record in place.records() {
        nothing_contains(&record, secret.as_bytes());
    }
}

/// A value of which nothing may stand in a record.
const SECRET: &str = "se-cret-7391";

/// Fails when the secret stands in what a run recorded and what is made of it.
fn holds_no_secret(place: &Place) {
    let records = place.records();
    let record = records.last().expect("a record");
    // Tables are compressed; the export has their content as text.
    for form in ["json", "tsv"] {
        place
            .run(&format!("export latest --to {form}"))
            .expect_code(0);
    }
    nothing_contains(record, SECRET.as_bytes());
    let report = fs::read_to_string(record.join("report.html")).expect("a report");
    assert!(report.contains("(hidden)"));
    assert!(report.contains("give the value again"));
}

#[test]
fn secrets_of_requests_are_sent_and_not_recorded() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    let url = format!("http://{}/x?token={SECRET}&page=1", far.address);
    let authorization = format!("Authorization: Bearer {SECRET}");
    let cookie = format!("--header=Cookie: id=1; session={SECRET}");
    let body = format!(r#"{{"user":"me","password":"{SECRET}"}}"#);
    let words = [
        "http",
        &url,
        "-H",
        &authorization,
        &cookie,
        "-b",
        &body,
        "-X",
        "POST",
        "-n",
        "1",
        "-c",
        "1",
        "--lang",
        "en",
    ];
    place.words(words).run().expect_code(0);
    let asked = far.asked();
    assert_eq!(asked[0].matches(SECRET).count(), 4, "{}", asked[0]);
    holds_no_secret(&place);
}

#[test]
fn secrets_of_plans_are_used_and_not_recorded() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    let asks =
        get(far.address, "/${__P(db.password)}", "").replacen("/${__P(db.password)}", "named", 1);
    place.write("plan.jmx", &plan(1, 1, &asks));
    place
        .run(&format!(
            "jmx run plan.jmx -Jdb.password={SECRET} --lang en"
        ))
        .expect_code(0);
    assert!(far.asked()[0].contains(SECRET));
    holds_no_secret(&place);
}

#[cfg(unix)]
#[test]
fn records_are_for_their_owner_alone() {
    let place = place_with_run();
    place.run("export latest --to csv").expect_code(0);
    let mut found = 0;
    owner_alone(&place.record(), &mut found);
    assert!(found > 8, "{found} files and directories");
    // What the operator wants elsewhere is as readable as what he writes himself.
    place.run("export latest --to json -o out").expect_code(0);
    place.write("own", "");
    let mode = |name: &str| fs::metadata(place.path().join(name)).unwrap().permissions();
    assert_eq!(mode("out/record.json"), mode("own"));
}

/// Fails when somebody else may read or write anything below this path, or the path itself.
#[cfg(unix)]
fn owner_alone(path: &Path, found: &mut usize) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o} {}", path.display());
    *found += 1;
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            owner_alone(&entry.path(), found);
        }
    }
}

/// Fails when any file below a directory holds these bytes.
fn nothing_contains(directory: &Path, bytes: &[u8]) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            nothing_contains(&path, bytes);
            continue;
        }
        let content = fs::read(&path).unwrap();
        let found = content.windows(bytes.len()).any(|window| window == bytes);
        assert!(!found, "the key stands in {}", path.display());
    }
}
