//! Properties of the model that hold for every link and every traffic.

use proptest::prelude::*;
use sokudo_link::{Counts, Direction, Loss, Properties};

/// A packet: when it is offered, and its bytes.
type Offer = (i64, u64);

/// A packet that arrived: its place among those offered, and when.
type Arrival = (usize, i64);

fn loss() -> impl Strategy<Value = Loss> {
    let bursts = (0.0..0.2f64, 0.05..1.0f64, 0.0..=1.0f64, 0.0..0.1f64);
    prop_oneof![
        Just(Loss::None),
        (0.0..=1.0f64).prop_map(Loss::Share),
        bursts.prop_map(|(to_bad, to_good, in_bad, in_good)| Loss::Bursts {
            to_bad,
            to_good,
            in_bad,
            in_good
        }),
    ]
}

fn properties() -> impl Strategy<Value = Properties> {
    let rate = prop::option::of(1_000u64..100_000_000_000);
    let queue = 1_514u64..200_000;
    let delay = prop_oneof![Just(0), 1u64..200_000_000];
    let jitter = prop_oneof![Just(0), 1u64..50_000_000];
    (rate, queue, delay, jitter, any::<bool>(), loss()).prop_map(
        |(rate_bits_per_s, queue_bytes, delay_ns, jitter_ns, may_reorder, loss)| Properties {
            rate_bits_per_s,
            queue_bytes,
            delay_ns,
            jitter_ns,
            may_reorder,
            loss,
        },
    )
}

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let gap = prop_oneof![3 => Just(0i64), 2 => 1i64..100_000, 1 => 1i64..50_000_000];
    prop::collection::vec((gap, 1u64..1_514), 1..300).prop_map(|steps| {
        let mut now_ns = 0;
        let step = |(gap_ns, bytes)| {
            now_ns += gap_ns;
            (now_ns, bytes)
        };
        steps.into_iter().map(step).collect()
    })
}

/// Sends packets over a link. `looks` is whether somebody takes what has arrived between two offers, or
/// everything at the end.
fn sent(
    properties: Properties,
    seed: u64,
    offers: &[Offer],
    looks: bool,
) -> (Vec<Arrival>, Counts) {
    let mut link = Direction::new(properties, seed);
    let mut arrived = Vec::new();
    let mut take = |link: &mut Direction<usize>, until_ns: i64| {
        while let Some(due_ns) = link.next_due_ns().filter(|due_ns| *due_ns <= until_ns) {
            arrived.extend(link.take_due(due_ns).map(|place| (place, due_ns)));
        }
    };
    for (place, (now_ns, bytes)) in offers.iter().enumerate() {
        if looks {
            take(&mut link, *now_ns);
        }
        link.accept(*now_ns, *bytes, place);
        let counts = link.counts();
        let known = counts.delivered + counts.dropped_queue + counts.dropped_loss;
        assert_eq!(
            counts.offered,
            known + link.in_flight() as u64,
            "on the way"
        );
    }
    take(&mut link, i64::MAX);
    assert_eq!(link.in_flight(), 0);
    (arrived, link.counts())
}

proptest! {
    /// Every packet has one fate, and the counts are those of the packets.
    #[test]
    fn packets_are_conserved(p in properties(), seed: u64, offers in offers(), looks: bool) {
        let (arrived, counts) = sent(p, seed, &offers, looks);
        prop_assert_eq!(counts.offered, offers.len() as u64);
        prop_assert_eq!(counts.offered_bytes, offers.iter().map(|(_, bytes)| bytes).sum::<u64>());
        prop_assert_eq!(counts.delivered, arrived.len() as u64);
        prop_assert_eq!(counts.offered, counts.delivered + counts.dropped_queue + counts.dropped_loss);
        let bytes = arrived.iter().map(|(place, _)| offers[*place].1).sum::<u64>();
        prop_assert_eq!(counts.delivered_bytes, bytes);
        let mut places: Vec<usize> = arrived.iter().map(|(place, _)| *place).collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), arrived.len(), "a packet arrived twice");
        if p.loss.is_none() {
            prop_assert_eq!(counts.dropped_loss, 0);
        }
        if p.rate_bits_per_s.is_none() {
            prop_assert_eq!(counts.dropped_queue, 0);
        }
    }

    /// Packets arrive in the order in which they were offered, unless they may overtake.
    #[test]
    fn order_is_kept_unless_asked(p in properties(), seed: u64, offers in offers(), looks: bool) {
        let (arrived, _) = sent(p, seed, &offers, looks);
        prop_assert!(arrived.is_sorted_by_key(|(_, due_ns)| *due_ns));
        if !p.may_reorder || p.jitter_ns == 0 {
            prop_assert!(arrived.is_sorted_by_key(|(place, _)| *place));
        }
    }

    /// No packet arrives earlier than its own time on the line and the delay say; without a queue before
    /// it, and where no other holds it back, none arrives later than the jitter allows.
    #[test]
    fn the_delay_is_never_below_what_was_asked(p in properties(), seed: u64, offers in offers()) {
        let (arrived, _) = sent(p, seed, &offers, false);
        for (place, due_ns) in &arrived {
            let (offered_ns, bytes) = offers[*place];
            let line_ns = p.rate_bits_per_s.map_or(0, |rate| u128::from(bytes) * 8_000_000_000 / u128::from(rate));
            let least_ns = offered_ns as i128 + line_ns as i128 + i128::from(p.delay_ns);
            prop_assert!(i128::from(*due_ns) >= least_ns, "{due_ns} before {least_ns}");
            if p.rate_bits_per_s.is_none() {
                let most_ns = offered_ns as i128 + i128::from(p.delay_ns + p.jitter_ns);
                prop_assert!(i128::from(*due_ns) <= most_ns, "{due_ns} after {most_ns}");
            }
        }
    }

    /// Between any two arrivals, no more bytes arrive than the rate carries in that time.
    #[test]
    fn the_rate_is_never_exceeded(
        p in properties(), rate in 1_000u64..100_000_000_000, seed: u64, offers in offers(),
    ) {
        // Jitter moves packets towards each other behind the line.
        let p = Properties { rate_bits_per_s: Some(rate), jitter_ns: 0, ..p };
        let (arrived, _) = sent(p, seed, &offers, false);
        for first in 0..arrived.len() {
            let mut bytes = 0u128;
            for (place, due_ns) in &arrived[first + 1..] {
                bytes += u128::from(offers[*place].1);
                // One nanosecond: both ends of the time are whole ones.
                let time_ns = (due_ns - arrived[first].1 + 1) as u128;
                prop_assert!(bytes * 8_000_000_000 <= time_ns * u128::from(rate));
            }
        }
    }

    /// A line with something to send is never idle: what it sends in a row ends when the rate says so.
    #[test]
    fn the_rate_is_reached(rate in 1_000u64..100_000_000_000, sizes in prop::collection::vec(1u64..1_514, 1..300)) {
        let p = Properties { rate_bits_per_s: Some(rate), ..Properties::default() };
        let offers: Vec<Offer> = sizes.iter().map(|bytes| (0, *bytes)).collect();
        let (arrived, _) = sent(p, 0, &offers, false);
        let bits = u128::from(sizes.iter().sum::<u64>()) * 8_000_000_000;
        let last_ns = arrived.last().map(|(_, due_ns)| *due_ns as u128);
        prop_assert_eq!(last_ns, Some(bits.div_ceil(u128::from(rate))));
    }

    /// The queue never holds more than it has room for, and drops nothing that would fit.
    #[test]
    fn the_queue_is_bounded(p in properties(), rate in 1_000u64..100_000_000_000, seed: u64, offers in offers()) {
        let p = Properties { rate_bits_per_s: Some(rate), ..p };
        let (_, counts) = sent(p, seed, &offers, false);
        prop_assert!(counts.queue_max_bytes <= p.queue_bytes);
        let all = offers.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if all <= p.queue_bytes {
            prop_assert_eq!(counts.dropped_queue, 0);
        }
    }

    /// The same seed gives the same result, however often somebody looks.
    #[test]
    fn a_seed_repeats_a_link(p in properties(), seed: u64, offers in offers(), looks: bool) {
        prop_assert_eq!(sent(p, seed, &offers, looks), sent(p, seed, &offers, false));
    }

    /// Jitter does not change which packets are lost.
    #[test]
    fn loss_is_drawn_apart_from_jitter(p in properties(), seed: u64, offers in offers()) {
        let places = |jitter_ns| {
            let (arrived, _) = sent(Properties { jitter_ns, ..p }, seed, &offers, false);
            let mut places: Vec<usize> = arrived.into_iter().map(|(place, _)| place).collect();
            places.sort_unstable();
            places
        };
        prop_assert_eq!(places(0), places(9_000_000));
    }
}
