//! Division of rates and arrivals among generators.

use super::*;

const ONE_USER: &str = "<stringProp name=\"ThreadGroup.num_threads\">1</stringProp><elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><boolProp name=\"LoopController.continue_forever\">false</boolProp><stringProp name=\"LoopController.loops\">LOOPS</stringProp></elementProp>";
const SAMPLER: &str = "<HTTPSamplerProxy testname=\"S\"><stringProp name=\"HTTPSampler.domain\">h</stringProp></HTTPSamplerProxy><hashTree/>";

/// Start times in milliseconds of one user's requests with a timer, on one of several generators.
fn starts(timer: &str, loops: u64, (index, of): (u64, u64)) -> Vec<i64> {
    let group = ONE_USER.replace("LOOPS", &loops.to_string());
    let content = format!("{timer}<hashTree/>{SAMPLER}");
    let simulated = Simulation::group(&group, &content)
        .part(index, of)
        .run(|_| (200, String::new(), String::new(), 0));
    simulated.rows.iter().map(|row| row.start_ms).collect()
}

#[test]
fn exact_arrivals_are_had_once_by_all_generators_together() {
    let timer = "<PreciseThroughputTimer testname=\"T\"><stringProp name=\"throughput\">60</stringProp><intProp name=\"throughputPeriod\">60</intProp><stringProp name=\"duration\">60</stringProp><longProp name=\"randomSeed\">5</longProp></PreciseThroughputTimer>";
    let whole = starts(timer, 60, (0, 1));
    let mut together: Vec<i64> = (0..3)
        .flat_map(|index| starts(timer, 20, (index, 3)))
        .collect();
    together.sort_unstable();
    assert_eq!(together, whole);
    assert!(whole.last().is_some_and(|last| *last <= 60_000));
}

#[test]
fn a_shared_rate_is_divided_and_that_of_each_user_is_not() {
    let timer = |mode: u32| {
        format!(
            "<ConstantThroughputTimer testname=\"T\"><intProp name=\"calcMode\">{mode}</intProp><stringProp name=\"throughput\">600</stringProp></ConstantThroughputTimer>"
        )
    };
    let gap = |mode: u32, of: u64| {
        let starts = starts(&timer(mode), 3, (0, of));
        starts[2] - starts[1]
    };
    // This user only: ten per second on each generator.
    assert_eq!((gap(0, 1), gap(0, 4)), (100, 100));
    // All users, the group, and both shared: ten per second on all generators together.
    for mode in 1..=4 {
        assert_eq!((gap(mode, 1), gap(mode, 4)), (100, 400), "mode {mode}");
    }
}

#[test]
fn users_of_other_generators_are_not_waited_for() {
    let group = ONE_USER
        .replace("LOOPS", "1")
        .replace(">1</stringProp><elementProp", ">2</stringProp><elementProp");
    let timer = "<SyncTimer testname=\"T\"><intProp name=\"groupSize\">8</intProp><longProp name=\"timeoutInMs\">0</longProp></SyncTimer><hashTree/>";
    let simulated = Simulation::group(&group, &format!("{timer}{SAMPLER}"))
        .part(1, 4)
        .run(|_| (200, String::new(), String::new(), 0));
    assert_eq!(simulated.rows.len(), 2);
}
