//! The tool's own command lines.

use std::fs;

use super::far::{far, get, plan, says};
use crate::vocabulary::place;

#[test]
fn a_whole_command_line_of_the_tool_is_taken() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write(
        "plan.jmx",
        &plan(
            2,
            3,
            &get(far.address, "/${__P(path)}-${__P(other)}-${__P(third)}", ""),
        ),
    );
    fs::create_dir_all(place.path().join("home/bin")).unwrap();
    place.write(
        "home/bin/jmeter.properties",
        "path=home\nother=home\nthird=home",
    );
    place.write("home/bin/user.properties", "other=user");
    place.write("global.properties", "third=global");
    let ended = place.run(
        "compat jmeter -n -t plan.jmx -l out.jtl -f -j run.log -i log.xml -L DEBUG -d home \
         -Gglobal.properties -Djava.x=1 -Jpath=typed",
    );
    ended
        .expect_code(0)
        .expect_stdout("Creating summariser <summary>")
        .expect_stdout("... end of run")
        .expect_stderr("-j -i -L -Djava.x");
    let asked = far.asked();
    assert_eq!(asked.len(), 6);
    assert!(
        asked[0].starts_with("GET /typed-user-global HTTP/1.1\r\n"),
        "{}",
        asked[0]
    );
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    assert_eq!(rows.lines().count(), 7, "{rows}");
}

#[test]
fn everything_goes_through_the_proxy_and_its_password_is_recorded_nowhere() {
    let place = place();
    let proxy = far(|_, _| says(200, "from the proxy"));
    let direct = far(|_, _| says(200, "direct"));
    let elsewhere = "192.0.2.7:80".parse().unwrap();
    let both = get(elsewhere, "/a", "") + &get(direct.address, "/b", "");
    place.write("plan.jmx", &plan(1, 1, &both));
    place
        .run(&format!(
            "load plan.jmx -H 127.0.0.1 -P {} -N 127.* -E http -u me -a se-cret",
            proxy.address.port()
        ))
        .expect_code(0);
    let asked = proxy.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].starts_with("GET http://192.0.2.7/a HTTP/1.1\r\n"),
        "{}",
        asked[0]
    );
    assert!(asked[0].contains("\r\nProxy-Authorization: Basic bWU6c2UtY3JldA==\r\n"));
    assert!(direct.asked()[0].starts_with("GET /b HTTP/1.1\r\n"));
    let record = place.record();
    for entry in fs::read_dir(&record).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&bytes).contains("se-cret"),
            "{entry:?}"
        );
    }
}

#[test]
fn what_means_nothing_here_is_refused_with_what_to_do_instead() {
    let place = place();
    place
        .run("compat jmeter -s")
        .expect_code(2)
        .expect_stderr("sokudo serve");
    for words in ["-v", "--version"] {
        place
            .run(&format!("compat jmeter {words}"))
            .expect_code(0)
            .expect_stdout("sokudo ");
    }
    for words in ["-h", "--help", "-?"] {
        place
            .run(&format!("compat jmeter {words}"))
            .expect_code(0)
            .expect_stdout("sokudo compat jmeter");
    }
    place
        .run("load -t plan.jmx --duration 1500ms")
        .expect_code(2);
    place.run("load -t plan.jmx -P 3128").expect_code(2);
    place.run("load -t plan.jmx -H h -P 0").expect_code(2);
    place
        .run("load -t plan.jmx -d nowhere")
        .expect_code(2)
        .expect_stderr("there is no `bin` in it");
}
