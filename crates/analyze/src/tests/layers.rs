//! Tests of the sentences about the layers of a check of one machine.

use super::*;
use crate::verdict::layers;
use crate::view::word;

fn checked(layers: &[(&str, &str, f64)]) -> Record {
    let mut record = empty();
    record.manifest.workload = "check".into();
    for (workload, metric, value) in layers {
        let mut layer = phase(workload, vec![flow(&[])]);
        layer.workload = (*workload).into();
        layer.result.summary.insert((*metric).into(), *value);
        record.manifest.phases.push(layer);
    }
    record
}

#[test]
fn each_part_of_the_system_has_one_sentence_about_its_layers() {
    let mut both = checked(&[
        ("bus", "bus.messages_per_second", 1e5),
        ("stream", "stream.goodput_bits_per_second", 1e9),
        ("crr", "crr.connections_per_second", 1e4),
    ]);
    let says = layers::sentences(&both);
    says.iter().for_each(check_text);
    let keys: Vec<&str> = says.iter().map(|says| says.key.as_ref()).collect();
    assert_eq!(keys, ["verdict-layers", "verdict-layers-messages"]);
    assert_eq!(word(&says[0], "from"), Some("hosta"));
    assert_eq!(layers::of(&both).len(), 3);
    both.manifest.workload = "stream".into();
    assert!(layers::of(&both).is_empty());
}

#[test]
fn one_layer_alone_is_the_verdict_itself() {
    let one = checked(&[("stream", "stream.goodput_bits_per_second", 1e9)]);
    assert!(layers::sentences(&one).is_empty());
}
