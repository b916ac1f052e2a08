use sokudo_workload::Options as _;

use super::options::Test;
use super::*;
use crate::drive::BenchmarkOptions as _;

#[test]
fn options_survive_json_and_give_each_stream_what_it_has_to_do() {
    let options = Dbt3Options {
        scale: "0.05".parse().expect("a scale"),
        streams: 3,
        ..Dbt3Options::default()
    };
    let read: Dbt3Options = serde_json::from_str(&options.to_json()).expect("options");
    assert_eq!(read, options);
    assert!(options.validate().is_ok());
    assert_eq!(options.own_scale(), 5);
    let flows = options.flows(3);
    let counts: Vec<Option<u64>> = flows.iter().map(|flow| options.count_of(flow, 5)).collect();
    assert_eq!(counts, [24, 22, 22, 22, 6].map(Some));
    assert!(flows.iter().all(|flow| flow.from == 1), "{flows:?}");
    let power = Dbt3Options {
        test: Test::Power,
        ..options
    };
    assert_eq!(power.flows(1).len(), 1);
}

#[test]
fn scales_are_hundredths() {
    for (text, hundredths) in [
        ("0.01", 1),
        ("0.1", 10),
        ("1", 100),
        ("30", 3000),
        ("1000", 100_000),
    ] {
        let scale: Scale = text.parse().expect(text);
        assert_eq!(
            (scale.hundredths(), scale.to_string().as_str()),
            (hundredths, text)
        );
    }
    for wrong in ["", "0", "0.001", "0.015", "-1", "NaN", "inf", "1001"] {
        assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
    }
    let too_long = Dbt3Options {
        timeout: "2h".parse().expect("a time"),
        ..Dbt3Options::default()
    };
    assert!(too_long.validate().is_err());
}
