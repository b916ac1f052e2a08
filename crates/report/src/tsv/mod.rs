//! The series of a record as a table of tab-separated values, for spreadsheets and other programs.

mod bus;
mod datagram;

pub use bus::bus;
pub use datagram::datagram;

#[cfg(test)]
mod tests {
    use sokudo_model::{Record, Series, SeriesKey};

    use crate::synthetic;

    /// Host, metric, points.
    type Given<'a> = (&'a str, &'a str, &'a [(i64, f64)]);

    /// A record of these series.
    fn record(series: &[Given]) -> Record {
        let mut record = synthetic::empty("x", &["hosta", "hostb"]);
        record.series = series
            .iter()
            .map(|(host, metric, points)| Series {
                key: SeriesKey {
                    host: (*host).into(),
                    source: "x".into(),
                    metric: (*metric).into(),
                    labels: [("flow".to_owned(), "0".to_owned())].into(),
                },
                points: points.to_vec(),
            })
            .collect();
        record
    }

    #[test]
    fn datagrams_have_a_row_per_moment_and_host() {
        let table = super::datagram(&record(&[
            (
                "hosta",
                "datagram.sent_packets_per_second",
                &[(500_000_000, 10.0)],
            ),
            (
                "hostb",
                "datagram.delivered_packets_per_second",
                &[(500_000_000, 9.0)],
            ),
            (
                "hostb",
                "datagram.loss_ratio",
                &[(500_000_000, 0.1), (1_000_000_000, 0.0)],
            ),
        ]));
        let rows: Vec<&str> = table.lines().skip(1).collect();
        assert_eq!(
            rows,
            [
                "0.5\thosta\t0\t10\t\t\t\t",
                "0.5\thostb\t0\t\t\t9\t\t0.1",
                "1\thostb\t0\t\t\t\t\t0"
            ]
        );
    }

    #[test]
    fn flows_of_a_host_share_the_row_of_an_interval() {
        let of_flow = |t_ns| -> [(i64, f64); 1] { [(t_ns, 2.0)] };
        let table = super::bus(
            &record(&[
                ("hosta", "bus.sent_per_second", &of_flow(990_000_000)),
                ("hosta", "bus.sent_per_second", &of_flow(1_010_000_000)),
                ("hosta", "bus.response_max_seconds", &of_flow(1_000_000_000)),
            ]),
            500_000_000,
        );
        let rows: Vec<&str> = table.lines().skip(1).collect();
        assert_eq!(rows.len(), 1, "{table}");
        assert!(rows[0].starts_with("1\thosta\t\t\t4\t"), "{table}");
        assert!(rows[0].contains("\t2000000000\t"), "{table}");
    }
}
