use proptest::prelude::*;

use super::*;

/// Payload of TCP on a line with Ethernet frames of 1514 bytes.
fn line(bits_per_s: f64) -> f64 {
    bits_per_s / 8.0 * 1448.0 / 1514.0
}

/// Levels none, 1, 2 and 3 on word-like text: ratio, compressor and its inverse in MB/s of one core.
const TEXT: [(f64, f64, f64); 3] = [
    (2.46, 374.0, 1769.0),
    (2.71, 247.0, 1720.0),
    (2.756, 215.0, 1677.0),
];

/// The machine of the research notes: both ends share `cores`, content costs 0.23 s of CPU per 256 MiB.
fn world(bytes: f64, files: f64, bytes_per_s: f64, cores: f64) -> Inputs {
    let cost = |(ratio, pack, unpack): (f64, f64, f64)| LevelCost {
        ratio,
        pack_s: 1.0 / (pack * 1e6),
        unpack_s: 1.0 / (unpack * 1e6),
    };
    let path_s = 0.23 / f64::from(256 << 20) / 2.0;
    let end = |file_s| End {
        all_cores: cores,
        cores: cores / 2.0,
        byte_s: path_s,
        file_s,
    };
    Inputs {
        tree: Tree {
            files,
            bytes,
            entries: files,
            dense_ratio: 0.0,
            levels: [LevelCost::NONE, cost(TEXT[0]), cost(TEXT[1]), cost(TEXT[2])],
            short_frames: [1.0, 1.0],
        },
        way: Way {
            bytes_per_s,
            connection_bytes_per_s: None,
            rtt_s: 0.0,
        },
        sender: end(10e-6),
        receiver: end(18e-6),
        shared: true,
        disks: Disks {
            read_bytes_per_s: 5e9,
            write_bytes_per_s: 5e9,
            walk_s: 1.5e-6,
            create_s: 0.0,
            fsync_s: 0.0,
            sync_s: 0.0,
        },
        entry_wire_bytes: 0.0,
        start_s: 0.0,
        doubts: Doubts {
            way: 0.03,
            ratio: 0.05,
            cpu: 0.3,
            disk: 0.3,
        },
    }
}

fn setting(level: usize, connections: u32) -> Setting {
    Setting {
        level: Some(level),
        connections,
        batch_bytes: 1 << 20,
        durability: Durability::None,
        buffer_bytes: None,
        turns_per_file: 0.0,
    }
}

/// MB/s by the longest stage alone, as the table of the research notes has them.
fn rate(inputs: &Inputs, setting: &Setting) -> f64 {
    let terms = Terms::of(inputs, setting, setting.level.unwrap_or(0));
    inputs.tree.bytes / terms.longest().1 / 1e6
}

#[track_caller]
fn is_near(value: f64, expected: f64, share: f64) {
    assert!(
        (value / expected - 1.0).abs() <= share,
        "{value} is not {expected}"
    );
}

/// Predicted and measured rates of research/transfer.md §4.3.
#[test]
fn the_worked_table_is_reproduced() {
    let s1 = |cores| world(100.7e6, 1.0, line(100e6), cores);
    is_near(rate(&s1(2.0), &setting(0, 1)), 11.95, 0.005);
    is_near(rate(&s1(2.0), &setting(1, 1)), 29.4, 0.005);
    is_near(rate(&s1(2.0), &setting(3, 8)), 32.9, 0.005);
    let mut lz4 = s1(2.0);
    lz4.tree.levels[1].ratio = 1.44;
    is_near(rate(&lz4, &setting(1, 2)), 17.2, 0.005);
    // Half random, half text, 1.37 together.
    let mut mixed = world(128.6e6, 700.0, line(100e6), 2.0);
    mixed.tree.levels[1].ratio = 1.37;
    is_near(rate(&mixed, &setting(1, 8)), 16.4, 0.01);
    let t1 = |rate, cores| world(268.4e6, 1.0, rate, cores);
    is_near(rate(&t1(line(1e9), 2.0), &setting(0, 1)), 119.5, 0.005);
    is_near(rate(&t1(line(1e9), 4.0), &setting(1, 2)), 294.0, 0.005);
    // With the cores that were free then the processors set the pace.
    let starved = t1(line(1e9), 0.6);
    is_near(rate(&starved, &setting(1, 1)), 158.0, 0.10);
    assert_eq!(
        Terms::of(&starved, &setting(1, 1), 1).longest().0,
        Stage::Cpu
    );
    is_near(rate(&t1(1e12, 0.5), &setting(0, 1)), 497.0, 0.20);
    is_near(
        rate(&world(204.8e6, 20e3, 1e12, 0.45), &setting(0, 1)),
        149.0,
        0.25,
    );
}

#[test]
fn windows_and_turns_of_a_long_way_are_reproduced() {
    let mut long = world(25e6, 1.0, line(100e6), 2.0);
    long.way.rtt_s = 0.1;
    for (buffer, expected) in [(64 << 10, 0.35), (256 << 10, 1.42), (1 << 20, 5.7)] {
        let setting = Setting {
            buffer_bytes: Some(buffer),
            ..setting(0, 1)
        };
        is_near(rate(&long, &setting), expected, 0.02);
    }
    let mut asking = world(10.24e6, 1e3, line(100e6), 2.0);
    asking.way.rtt_s = 0.0245;
    for (connections, expected) in [(2, 0.84), (4, 1.68), (8, 3.35), (16, 6.7)] {
        let setting = Setting {
            turns_per_file: 1.0,
            ..setting(0, connections)
        };
        is_near(rate(&asking, &setting), expected, 0.01);
    }
}

#[test]
fn compression_is_chosen_only_while_it_outruns_the_line() {
    let best = |inputs: &Inputs| choose(grid(inputs, Durability::None, None))[0].0;
    // A core compresses 374 MB/s at level 1.
    let thin = best(&world(1e9, 1e3, line(100e6), 4.0));
    assert!(thin.level >= Some(2), "{thin:?}");
    let thick = best(&world(1e9, 1e3, 2e9, 2.0));
    assert_eq!(thick.level, Some(0));
    let mut dense = world(1e9, 1e3, line(100e6), 4.0);
    dense.tree.dense_ratio = 1.0;
    assert_eq!(best(&dense).level, Some(0));
    assert_eq!(best(&dense).connections, 1);
}

/// Two cores, of which six threads of other programs want all.
#[test]
fn more_connections_get_more_of_a_machine_that_others_use() {
    // Four threads that spin at once, two of each end, get 2 · 4/(4 + 6) cores.
    let mut busy = world(1e9, 1.0, 1e12, 0.8);
    for end in [&mut busy.sender, &mut busy.receiver] {
        end.all_cores = 2.0;
    }
    let with = |connections| {
        let terms = Terms::of(&busy, &setting(0, connections), 0);
        terms.cpu_s / terms.longest().1
    };
    // Two threads of eight get half a core, sixteen of 22 almost one and a half.
    is_near(with(1), 2.0 * 2.0 / 8.0, 0.01);
    is_near(with(8), 2.0 * 16.0 / 22.0, 0.01);
    busy.shared = false;
    for end in [&mut busy.sender, &mut busy.receiver] {
        end.cores = 2.0;
    }
    // On idle machines no more than there are.
    let with = |connections| {
        let terms = Terms::of(&busy, &setting(0, connections), 0);
        terms.cpu_s / 2.0 / terms.longest().1
    };
    is_near(with(1), 1.0, 0.01);
    is_near(with(16), 2.0, 0.01);
}

#[test]
fn more_connections_are_chosen_where_one_has_a_window() {
    let mut long = world(1e9, 10.0, line(100e6), 4.0);
    long.way.rtt_s = 0.1;
    long.way.connection_bytes_per_s = Some(2e6);
    let ranked = choose(grid(&long, Durability::None, None));
    assert!(ranked[0].0.connections >= 2, "{:?}", ranked[0]);
    let one = predict(&long, &setting(0, 1));
    assert_eq!(one.stage, Stage::Window);
}

#[test]
fn a_level_that_adapts_is_as_good_as_the_best_one() {
    let inputs = world(1e9, 1e3, line(100e6), 2.0);
    let auto = Setting {
        level: None,
        ..setting(0, 2)
    };
    let all = (0..4).map(|level| predict(&inputs, &setting(level, 2)).seconds);
    assert_eq!(
        predict(&inputs, &auto).seconds,
        all.fold(f64::INFINITY, f64::min)
    );
    assert_eq!(auto.level_name(), "auto");
}

#[test]
fn each_file_made_durable_costs_more_than_many_together() {
    let mut inputs = world(20e6, 2e3, 1e9, 2.0);
    inputs.disks.fsync_s = 3.68e-3;
    inputs.disks.sync_s = 0.05;
    let with = |durability| {
        let setting = Setting {
            durability,
            ..setting(0, 1)
        };
        predict(&inputs, &setting)
    };
    let each = with(Durability::File);
    assert_eq!(each.stage, Stage::Write);
    assert!(each.seconds > 4.0 * with(Durability::Batch).seconds);
    assert!(with(Durability::None).seconds < with(Durability::Batch).seconds);
}

fn any_inputs() -> impl Strategy<Value = Inputs> {
    let sizes = (1e3_f64..1e12, 1_f64..1e6, 0_f64..1.0);
    let way = (1e4_f64..1e10, 0_f64..0.5, prop::option::of(1e4_f64..1e9));
    let ends = (0.05_f64..64.0, prop::bool::ANY, 0_f64..0.6);
    (sizes, way, ends).prop_map(
        |((bytes, files, dense), (rate, rtt_s, one), (cores, shared, doubt))| {
            let mut inputs = world(bytes, files, rate, cores);
            inputs.tree.dense_ratio = dense;
            inputs.tree.short_frames = [0.93, 0.8];
            inputs.way.rtt_s = rtt_s;
            inputs.way.connection_bytes_per_s = one;
            inputs.shared = shared;
            inputs.doubts = Doubts {
                way: doubt,
                ratio: doubt,
                cpu: doubt,
                disk: doubt,
            };
            inputs
        },
    )
}

proptest! {
    #[test]
    fn a_prediction_is_a_time_within_its_range(
        inputs in any_inputs(), level in 0_usize..4, connections in 1_u32..64, batch in 0_u64..=(1 << 20),
    ) {
        let setting = Setting { batch_bytes: batch, ..setting(level, connections) };
        let found = predict(&inputs, &setting);
        prop_assert!(found.seconds.is_finite() && found.seconds > 0.0);
        prop_assert!(found.low_s < found.seconds && found.seconds < found.high_s);
        prop_assert!(found.wire_bytes <= inputs.tree.bytes * 1.0001);
        // No replication is faster than its line, whatever the processors do.
        prop_assert!(found.seconds >= found.wire_bytes / inputs.way.bytes_per_s);
    }

    #[test]
    fn more_of_what_is_scarce_never_takes_longer(inputs in any_inputs(), level in 0_usize..4, connections in 1_u32..64) {
        let setting = setting(level, connections);
        let before = predict(&inputs, &setting).seconds;
        let with = |change: fn(&mut Inputs)| {
            let mut inputs = inputs.clone();
            change(&mut inputs);
            // A faster line has a longer slow start: that is not part of this law.
            inputs.way.rtt_s = 0.0;
            predict(&inputs, &setting).seconds
        };
        prop_assert!(with(|_| ()) <= before);
        let flat = with(|_| ());
        prop_assert!(with(|it| it.way.bytes_per_s *= 2.0) <= flat);
        let with_cores = with(|it| {
            it.sender.cores *= 2.0;
            it.receiver.cores *= 2.0;
        });
        prop_assert!(with_cores <= flat);
        prop_assert!(with(|it| it.tree.bytes *= 2.0) >= flat);
        prop_assert!(with(|it| it.tree.files *= 2.0) >= flat);
    }

    #[test]
    fn the_choice_is_within_two_percent_of_the_best(inputs in any_inputs()) {
        let settings = grid(&inputs, Durability::Batch, None);
        let best = settings.iter().map(|(_, it)| it.seconds).fold(f64::INFINITY, f64::min);
        let ranked = choose(settings.clone());
        prop_assert_eq!(ranked.len(), settings.len());
        prop_assert!(ranked[0].1.seconds <= best * 1.0200001);
    }
}
