//! Mean value analysis of a closed network of queues: throughput and queues for a number of users.

/// A place where requests are served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station {
    /// Service that one request demands there, seconds over all its visits.
    pub demand_s: f64,
    /// Servers that work side by side; at least 1.
    pub servers: u32,
}

/// Throughput and times of a network of queues with a number of users.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Requests per second.
    pub per_second: f64,
    /// Mean response time, seconds, without the users' pauses.
    pub response_s: f64,
    /// Mean number of requests at each station, in service or waiting.
    pub at: Vec<f64>,
}

/// Users at most: the recursion takes a step for each.
pub const MOST_USERS: u32 = 1_000_000;

/// The network with `users` users who pause for `think_s` between their requests.
///
/// A station of several servers is taken as one that is as much faster, and a delay of the rest of
/// the service time (A. Seidmann, P. Schweitzer, S. Shalev-Oren, "Computerized Closed Queueing
/// Network Models of Flexible Manufacturing Systems", Large Scale Systems 12, 1987): exact for few
/// and for many users, up to a tenth off in between. More than [`MOST_USERS`] users are as many.
pub fn closed(stations: &[Station], think_s: f64, users: u32) -> Prediction {
    let queued: Vec<f64> = stations
        .iter()
        .map(|station| station.demand_s / f64::from(station.servers.max(1)))
        .collect();
    let delayed: Vec<f64> = stations
        .iter()
        .zip(&queued)
        .map(|(station, queued)| station.demand_s - queued)
        .collect();
    let mut at = vec![0.0; stations.len()];
    let mut out = Prediction {
        per_second: 0.0,
        response_s: 0.0,
        at: at.clone(),
    };
    for n in 1..=users.min(MOST_USERS) {
        let waits: Vec<f64> = queued.iter().zip(&at).map(|(d, q)| d * (1.0 + q)).collect();
        let response_s = waits.iter().sum::<f64>() + delayed.iter().sum::<f64>();
        let cycle_s = response_s + think_s;
        if cycle_s <= 0.0 {
            return out;
        }
        let per_second = f64::from(n) / cycle_s;
        at = waits.iter().map(|wait| per_second * wait).collect();
        let delayed = delayed.iter().map(|delay| per_second * delay);
        out = Prediction {
            per_second,
            response_s,
            at: at.iter().zip(delayed).map(|(q, d)| q + d).collect(),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: Station = Station {
        demand_s: 0.1,
        servers: 1,
    };

    #[test]
    fn one_user_waits_for_nobody() {
        let pool = Station {
            demand_s: 2.0,
            servers: 10,
        };
        let alone = closed(&[ONE, pool], 0.4, 1);
        assert!((alone.response_s - 2.1).abs() < 1e-12, "{alone:?}");
        assert!((alone.per_second - 0.4).abs() < 1e-12, "{alone:?}");
    }

    #[test]
    fn a_pool_of_ten_with_25_users_makes_about_eleven_wait() {
        // Ten connections, each held for 2 s per request, 0.75 s of other work, pauses of 0.583 s.
        let pool = Station {
            demand_s: 2.0,
            servers: 10,
        };
        let all = closed(&[pool], 0.583 + 0.75, 25);
        let waiting = all.at[0] - 10.0;
        assert!((all.per_second - 5.0).abs() < 0.2, "{all:?}");
        assert!((7.0..=10.0).contains(&waiting), "{waiting}");
    }

    #[test]
    fn two_equal_stations_serve_as_the_closed_form_says() {
        // Balanced networks: X(N) = N / (D (N + K - 1)).
        for users in 1..20 {
            let all = closed(&[ONE, ONE], 0.0, users);
            let exact = f64::from(users) / (0.1 * f64::from(users + 1));
            assert!((all.per_second - exact).abs() < 1e-9, "{users}: {all:?}");
        }
    }

    proptest! {
        #[test]
        fn throughput_keeps_its_bounds(demands in prop::collection::vec(0.001f64..1.0, 1..5), think_s in 0.0f64..5.0, users in 1u32..200) {
            let stations: Vec<Station> = demands.iter().map(|demand_s| Station { demand_s: *demand_s, servers: 1 }).collect();
            let all = closed(&stations, think_s, users);
            let (sum, most) = (demands.iter().sum::<f64>(), demands.iter().copied().fold(0.0, f64::max));
            let n = f64::from(users);
            prop_assert!(all.per_second <= (n / (sum + think_s)).min(1.0 / most) * (1.0 + 1e-9));
            // Little's law over the whole network.
            prop_assert!((all.per_second * (all.response_s + think_s) - n).abs() < 1e-6 * n);
        }
    }
}
