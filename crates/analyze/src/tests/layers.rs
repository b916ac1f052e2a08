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
fn all_layers_are_told_in_one_sentence() {
    let mut both = checked(&[
        ("stream", "stream.goodput_bits_per_second", 1e9),
        ("bus", "bus.messages_per_second", 1e5),
    ]);
    let says = layers::sentence(&both).expect("a sentence");
    check_text(&says);
    assert_eq!(word(&says, "from"), Some("hosta"));
    assert_eq!(layers::of(&both).len(), 2);
    both.manifest.workload = "stream".into();
    assert!(layers::of(&both).is_empty());
}

#[test]
fn one_layer_alone_is_the_verdict_itself() {
    let one = checked(&[("stream", "stream.goodput_bits_per_second", 1e9)]);
    assert_eq!(layers::sentence(&one), None);
}
