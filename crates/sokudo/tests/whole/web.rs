//! The page in a real browser: collect, write, run, watch, stop, read the report.

use sokudo_testkit::program::Running;

use crate::browser::{Browser, browser};
use crate::vocabulary::{Place, place};

/// A page over local hosts, and its address.
pub fn page(place: &Place, hosts: &str) -> (Running, String) {
    let words = ["web", "--local", hosts, "--listen", "127.0.0.1:0"];
    let mut running = place.words(words).start();
    let url = running.wait_for(|line| line.split_once(" on ").map(|(_, url)| url.to_owned()));
    (running, url)
}

/// Writes into the fields of the form for load.
pub fn fill_in(browser: &mut Browser, fields: &[(&str, &str)]) {
    for (field, value) in fields {
        let value = serde_json::Value::from(*value);
        browser.value(&format!(
            "document.querySelector('#load-{field}').value = {value}"
        ));
    }
}

fn text(browser: &mut Browser, selector: &str) -> String {
    let text = browser.value(&format!("document.querySelector('{selector}').textContent"));
    text.as_str().unwrap_or_default().to_owned()
}

#[test]
fn from_no_hosts_to_a_report() {
    let Some(mut browser) = browser(1440, 1000) else {
        return;
    };
    let place = place();
    let (running, url) = page(&place, "2");
    browser.go(&url);
    browser.wait("document.querySelector('#lead').textContent.includes('Collect node info')");
    browser.shot("1-empty");
    browser.press("#do-collect");
    browser.wait("document.querySelectorAll('.host').length === 2");
    browser.press("#do-emit");
    browser.wait("document.querySelector('#script').value.includes('connectnode 2')");
    browser.shot("2-script");

    // Longer than the script's own thousand exchanges, so that there is something to watch.
    let lines = "node 1 rr 2 --duration 3s --size 1kB\\nwaitallresults 1 60s\\n\
                 node 1 stream 2 --duration 2s\\nwaitallresults 1 60s";
    browser.value(&format!(
        "{{ const s = document.querySelector('#script'); s.value = '{lines}'; \
           s.dispatchEvent(new Event('input')); }}"
    ));
    browser.press("#do-run");
    let points = "Number(document.querySelector('[data-track=answers] .readout')\
                  ?.textContent.match(/[0-9.]+/)?.[0] ?? 0)";
    browser.wait(&format!("{points} > 0"));
    browser.wait("!document.querySelector('[data-track=throughput]').hidden");
    browser.wait("document.querySelector('[data-track=throughput] canvas')");
    browser.shot("3-live");
    browser.wait("document.querySelector('#report')");
    browser.wait("document.querySelectorAll('.record').length === 1");
    browser.shot("4-over");
    assert_eq!(place.records().len(), 1);

    // Both languages, light and dark.
    browser.press("[data-lang=ja]");
    browser.wait("document.querySelector('#do-run').textContent === '実行'");
    browser.press("[data-do=theme]");
    browser.shot("5-japanese-dark");
    browser.press("[data-lang=en]");
    browser.press("[data-do=theme]");

    // The earlier run under the next one.
    browser.press(".record .under");
    browser
        .wait("document.querySelector('.record .under').getAttribute('aria-pressed') === 'true'");
    let lead = text(&mut browser, "#lead");
    assert!(!lead.is_empty());
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let report = browser.value("document.querySelector('#report').href");
    browser.go(report.as_str().expect("an address"));
    // Charts are drawn when they come near the window.
    browser.value("document.querySelector('#over-time').scrollIntoView()");
    browser.wait("document.querySelectorAll('.drawn .plot canvas').length > 0");
    browser.shot("6-report");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    running.interrupt();
    running.finish().expect_code(0);
}

#[test]
fn a_mistake_is_marked_a_line_is_answered_and_a_run_is_stopped() {
    let Some(mut browser) = browser(1280, 900) else {
        return;
    };
    let place = place();
    let (running, url) = page(&place, "2");
    browser.go(&url);
    browser.wait("document.querySelector('#do-collect')?.disabled === false");
    let write = |browser: &mut Browser, script: &str| {
        browser.value("document.querySelector('#script').value = ''");
        browser.type_into("#script", script);
    };
    write(&mut browser, "hosts\nnode 1 nonsense 2\n");
    browser.press("#do-run");
    browser.wait("document.querySelector('.numbers-column .wrong')?.textContent === '2'");
    browser.wait("document.querySelector('#do-run').disabled === false");
    browser.shot("7-mistake");
    browser.press(".mistakes .place");
    let selected = "document.activeElement.id === 'script' && \
                    document.querySelector('#script').selectionStart > 5";
    browser.wait(selected);
    mistakes_are_told_in_japanese(&mut browser);

    write(&mut browser, "node 1 rr 2 --duration 10min\n");
    browser.press("#do-run");
    browser.wait("!document.querySelector('[data-track=answers]').hidden");
    browser.press("#do-stop");
    browser.wait("document.querySelector('#report')");
    assert_eq!(place.records().len(), 1, "what was measured is kept");

    browser.type_into("#line", "hosts");
    browser.key("Enter", 13);
    browser.wait("document.querySelectorAll('.said.order').length === 1");
    browser.wait("document.querySelector('.pill.waits')");
    browser.press(".host-head");
    browser.type_into("#line", "rr 2 --count 50");
    browser.key("Enter", 13);
    let answered = "document.querySelector('.said.order ~ .said.order ~ .said.answer')\
                    ?.textContent.includes('hosta → hostb')";
    browser.wait(answered);
    browser.shot("8-console");
    browser.press("#do-close");
    browser.wait("document.querySelectorAll('.record').length === 2");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    running.interrupt();
    running.finish().expect_code(0);
}

#[test]
fn a_web_server_is_loaded_from_the_page_and_the_load_is_changed() {
    let Some(mut browser) = browser(1280, 900) else {
        return;
    };
    let place = place();
    let server = crate::http::server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let (running, url) = page(&place, "2");
    browser.go(&url);
    browser.wait("document.querySelector('#do-load')?.disabled === false");
    fill_in(
        &mut browser,
        &[
            ("url", &format!("http://{server}/")),
            ("duration", "10min"),
            ("rate", "100/s"),
        ],
    );
    browser.press("#do-load");
    browser.wait("document.querySelector('[data-track=answers] canvas')");
    browser.wait("document.querySelector('.steer')?.hidden === false");
    browser.type_into("#rate-now", "200");
    browser.press(".steer button");
    browser.wait("document.querySelector('.notice').hidden");
    browser.shot("9-web-server");
    browser.press("#do-stop");
    browser.wait("document.querySelector('#report')");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    running.interrupt();
    running.finish().expect_code(0);
    let steered = place.load().events;
    let steered = steered.iter().filter(|event| event.kind == "steered");
    assert_eq!(steered.count(), 1, "the record tells of the change");
}

#[test]
fn a_page_that_cannot_be_served_says_why() {
    let place = place();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let at = taken.local_addr().expect("an address").to_string();
    let ended = place.words(["web", "--local", "2", "--listen", &at]).run();
    ended
        .expect_code(2)
        .expect_stderr("hint: choose another address");
    let ended = place.words(["web"]).run();
    ended.expect_code(2).expect_stderr("no hosts are named");
}

#[test]
fn beyond_this_machine_the_address_holds_a_token() {
    let place = place();
    let words = ["web", "--local", "2", "--listen", "0.0.0.0:0"];
    let mut running = place.words(words).start();
    running.wait_for(|line| line.contains("/?token=").then_some(()));
    running.interrupt();
    running.finish().expect_code(0);
}

/// A mistake is shown at its field; a plan is loaded, its failures are told by label, code and message, also
/// after a reload; and it is run again from its record.
#[test]
fn a_plan_is_pasted_started_watched_and_run_again() {
    let Some(mut browser) = browser(1280, 1000) else {
        return;
    };
    let place = place();
    let far = crate::web_jmx::application();
    let (running, url) = page(&place, "2");
    browser.go(&url);
    browser.wait("document.querySelector('#do-load')?.disabled === false");
    let wrong = |browser: &mut Browser, field: &str| {
        browser.press("#do-load");
        browser.wait(&format!(
            "document.querySelector('#load-{field}').getAttribute('aria-invalid') === 'true'"
        ));
        text(browser, &format!("#load-{field}-error"))
    };
    fill_in(
        &mut browser,
        &[("url", "http://127.0.0.1:9/"), ("slo", "p95 good")],
    );
    let told = wrong(&mut browser, "slo");
    assert!(told.contains("p95<2s"), "{told}");
    fill_in(&mut browser, &[("slo", ""), ("users", "many")]);
    assert!(wrong(&mut browser, "users").contains("many"));
    browser.value(
        "{ const what = document.querySelector('#load-what'); what.value = 'plan'; \
           what.dispatchEvent(new Event('change')); }",
    );
    fill_in(
        &mut browser,
        &[
            ("users", "2"),
            ("plan", "<jmeterTestPlan>\n<hashTree>\n<nonsense>"),
        ],
    );
    let told = wrong(&mut browser, "plan");
    assert!(told.contains("line "), "{told}");
    browser.shots("load-wrong", 1280, 1000);

    let plan = crate::jmx::far::plan(1, -1, &crate::jmx::far::get(far.address, "/a", ""));
    fill_in(
        &mut browser,
        &[
            ("plan", &plan),
            ("ramp", "1"),
            ("duration", "600"),
            ("slo", "err<90%"),
        ],
    );
    browser.press("#do-load");
    let failed = "[...document.querySelectorAll('#failures tbody tr')].some((row) => \
                  row.innerText.includes('/a') && row.innerText.includes('503') && \
                  /[1-9]/.test(row.querySelector('.count').textContent))";
    browser.wait(failed);
    browser.wait("document.querySelector('.steer')?.hidden === false");
    browser.type_into("#users", "3");
    browser.press(".steer button");
    browser.wait("[...document.querySelectorAll('#figures .number')].some((one) => one.querySelector('dd').textContent.trim() === '3')");
    browser.shots("load-live", 1280, 1000);
    browser.press("#do-stop");
    browser.wait("document.querySelector('#report')");
    browser.wait("document.querySelector('.record .again')");
    let did = text(&mut browser, ".record-name");
    assert!(did.contains("plan.jmx"), "{did}");
    browser.go(&url);
    browser.wait(failed);
    browser.wait(
        "document.querySelector('#report') && document.querySelector('#lead').textContent !== ''",
    );

    browser.press(".record .again");
    browser.wait("document.querySelector('.pill.works')");
    browser.wait(failed);
    browser.press("#do-stop");
    browser.wait("document.querySelectorAll('.record').length === 2");
    let complaints = browser.complaints();
    assert!(
        complaints.iter().all(|one| one.contains("409")),
        "{complaints:#?}"
    );
    running.interrupt();
    running.finish().expect_code(0);
    for record in place.records() {
        let record = sokudo_store::load(&record).expect("a record");
        let command = record.manifest.command.join(" ");
        assert!(command.starts_with("sokudo jmx run "), "{command}");
        let rest = "plan/plan.jmx --users=2 --ramp=1 --duration=600";
        assert!(command.contains(rest), "{command}");
    }
}

/// Mistakes of several kinds, in lines and in JavaScript, told beside the script while it is typed.
fn mistakes_are_told_in_japanese(browser: &mut Browser) {
    browser.press("[data-lang=ja]");
    let lines =
        "hosts\nnode 1 nonsense 2\nnode 1 rr 2 --nonsense 1\nwait x\nnode 1 rr 2 --count 0\n";
    let scripts = [
        ("lines", lines, 4),
        ("javascript", "lab.hosts();\nconst a = ;\n", 1),
        ("lines", "node 1 rr 2 --count 0\n", 1),
    ];
    for (language, script, mistakes) in scripts {
        browser.value(&format!(
            "{{ const s = document.querySelector('#language'); s.value = '{language}'; \
             const t = document.querySelector('#script'); t.value = ''; \
             t.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')); }}"
        ));
        browser.wait("document.querySelectorAll('.mistakes li').length === 0");
        browser.type_into("#script", script);
        let all = format!("document.querySelectorAll('.mistakes li').length === {mistakes}");
        browser.wait(&all);
        let told = text(browser, ".mistakes");
        super::japanese::is_japanese(script, &told);
    }
    browser.press("[data-lang=en]");
}

/// A load of which nothing got through, and a script that cannot be run, are told as what they are.
#[test]
fn what_failed_is_not_told_as_fine() {
    let Some(mut browser) = browser(1280, 900) else {
        return;
    };
    let place = place();
    let (running, url) = page(&place, "2");
    browser.go(&url);
    browser.wait("document.querySelector('#do-load')?.disabled === false");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let nobody = free.local_addr().expect("an address");
    drop(free);
    let nowhere = format!("http://{nobody}/");
    fill_in(
        &mut browser,
        &[("url", &nowhere), ("duration", "1s"), ("users", "2")],
    );
    browser.press("#do-load");
    browser.wait("document.querySelectorAll('.record').length === 1");
    browser.wait("document.querySelector('.record .status.failed')");
    browser.wait("document.querySelector('#failures').innerText.includes('connect: refused')");
    browser.shots("load-refused", 1280, 900);

    browser.type_into("#script", "node 1 rr 2 --count 0\n");
    browser.press("#do-run");
    browser.wait("document.querySelector('#lead.bad')");
    let lead = text(&mut browser, "#lead");
    assert!(lead.contains("count") || lead.contains('0'), "{lead}");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    running.interrupt();
    running.finish().expect_code(0);
}
