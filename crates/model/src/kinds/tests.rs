use super::*;
use crate::metric::find as metric;

fn summary(metrics: &[(Metric, f64)]) -> Summary {
    let owned = metrics
        .iter()
        .map(|(metric, v)| (metric.name.to_owned(), *v));
    owned.collect()
}

#[test]
fn every_metric_of_a_kind_is_its_own_and_in_the_catalogue() {
    for kind in KINDS {
        let ends = [Some(kind.ends.near), kind.ends.far];
        let ends = ends.into_iter().flatten();
        let threads = ends.flat_map(|end| [Some(end.cpu), end.wait]).flatten();
        let curve = kind.curve.into_iter().flat_map(|curve| {
            let shares = curve.shares.iter().map(|(_, share)| *share);
            let single = [curve.offered, curve.delivered, curve.best];
            single.into_iter().chain(shares).chain(curve.latency)
        });
        let tracks = kind.tracks.iter().map(|source| source.metric);
        let pairs = kind.pair_figures.iter().map(|figure| figure.metric);
        let layer = kind.layer.iter().flat_map(|layer| layer.numbers);
        let used = std::iter::once(kind.done)
            .chain(threads)
            .chain(curve)
            .chain(kind.charts.metrics())
            .chain(tracks)
            .chain(pairs)
            .chain(layer.map(|number| number.metric))
            .chain(kind.expects.line_rate);
        for used in used {
            assert!(kind.metrics.contains(&used), "{}: {used}", kind.name);
            assert_eq!(metric(used.name), Some(&used));
        }
        for own in kind.metrics {
            let first = own.name.split('.').next();
            assert!(
                [Some(kind.source), Some(kind.name)].contains(&first),
                "{own}"
            );
        }
    }
}

#[test]
fn offered_and_delivered_load_have_one_unit() {
    for curve in KINDS.iter().filter_map(|kind| kind.curve) {
        assert_eq!(curve.offered.unit, curve.delivered.unit, "{}", curve.best);
    }
}

#[test]
fn names_are_unique_and_an_unknown_one_has_no_kind() {
    for kind in KINDS {
        assert_eq!(find(kind.name), Some(*kind));
    }
    assert_eq!(find("imaginary"), None);
}

#[test]
fn what_a_flow_carried_follows_from_its_metrics() {
    let asked = carried(&summary(&[
        (rr::TRANSACTIONS, 10.0),
        (rr::TRANSACTIONS_PER_SECOND, 5.0),
        (rr::REQUEST_BYTES, 100.0),
        (rr::RESPONSE_BYTES, 100.0),
    ]));
    let asked = asked.expect("a flow of requests");
    assert_eq!((asked.bytes, asked.seconds), (2000.0, 2.0));
    assert_eq!(asked.bits_per_second(), 8000.0);
    let stream = carried(&summary(&[
        (stream::RECEIVED_BYTES, 1000.0),
        (stream::GOODPUT_BITS_PER_SECOND, 8000.0),
    ]));
    assert_eq!(stream.map(|c| c.seconds), Some(1.0));
    assert_eq!(carried(&summary(&[(rr::TRANSACTIONS, 1.0)])), None);
    assert_eq!(carried(&Summary::new()), None);
}

#[test]
fn equal_speeds_are_fair_and_dead_flows_do_not_count() {
    let flow = |bits: f64, complete| FlowResult {
        metrics: summary(&[
            (stream::RECEIVED_BYTES, bits / 8.0),
            (stream::GOODPUT_BITS_PER_SECOND, bits),
        ]),
        complete,
        ..FlowResult::default()
    };
    let equal = [flow(8e6, true), flow(8e6, true), flow(1.0, false)];
    assert_eq!(fairness(&equal), Some(1.0));
    let totals = totals(&equal).expect("complete flows");
    assert_eq!((totals.bytes, totals.seconds), (2e6, 1.0));
    let one_has_all = [flow(8e12, true), flow(8e-6, true)];
    assert!(fairness(&one_has_all).is_some_and(|index| (index - 0.5).abs() < 1e-9));
    assert_eq!(fairness(&equal[2..]), None);
}

#[test]
fn flows_of_several_workloads_do_not_add_up() {
    let flow = |metrics: &[(Metric, f64)]| FlowResult {
        metrics: summary(metrics),
        complete: true,
        ..FlowResult::default()
    };
    let requests = flow(&[
        (rr::TRANSACTIONS, 10.0),
        (rr::ONE_WAY_BYTES_PER_SECOND, 10.0),
    ]);
    let bytes = flow(&[
        (stream::RECEIVED_BYTES, 1e9),
        (stream::GOODPUT_BITS_PER_SECOND, 8e9),
    ]);
    let alike = [bytes.clone(), bytes.clone()];
    assert_eq!(totals(&alike).map(|all| all.bytes), Some(2e9));
    assert_eq!(fairness(&alike), Some(1.0));
    let mixed = [requests, bytes];
    assert!(is_mixed(&mixed) && !is_mixed(&alike));
    assert_eq!(totals(&mixed).map(|all| all.bytes), None);
    assert_eq!(fairness(&mixed), None);
}
