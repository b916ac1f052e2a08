//! Elements that compute without end: a plan heeds its duration and its operator all the same.

use crate::jmx::far::{Far, far, get, plan, says};
use crate::vocabulary::{Place, place};

/// A plan whose only request is followed by a comparison of a million letters with each other, in the
/// engine's own code, where it does not ask whether it must end.
fn endless(place: &Place) -> Far {
    let far = far(|_, _| says(200, "ok"));
    let script = r#"<JSR223PostProcessor guiclass="TestBeanGUI" testname="s"><stringProp name="scriptLanguage">javascript</stringProp><stringProp name="script">/^(.*)\1\1b/.test('a'.repeat(1000000))</stringProp></JSR223PostProcessor><hashTree/>"#;
    place.write("endless.jmx", &plan(1, -1, &get(far.address, "/a", script)));
    far
}

#[test]
fn a_plan_ends_with_its_duration_whatever_its_elements_compute() {
    let place = place();
    let far = endless(&place);
    let ended = place.sokudo("jmx run endless.jmx --duration 1s").run();
    ended.expect_stderr("did not come to its end");
    assert_eq!(far.asked().len(), 1);
}

#[cfg(unix)]
#[test]
fn the_operator_ends_a_plan_whatever_its_elements_compute() {
    let place = place();
    let far = endless(&place);
    let running = place.sokudo("jmx run endless.jmx").start();
    let by = std::time::Instant::now() + crate::vocabulary::BOUND;
    while far.asked().is_empty() && std::time::Instant::now() < by {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.interrupt();
    running.finish().expect_stderr("did not come to its end");
}
