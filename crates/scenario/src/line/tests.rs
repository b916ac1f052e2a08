//! Tests of the parser: lines are read as meant, and mistakes are reported with their place.

use proptest::prelude::*;

use super::*;
use sokudo_i18n::{I18n, Lang, english};

fn one(text: &str) -> Command {
    parse_line(text, 1).expect(text).expect(text).command
}

#[test]
fn the_words_of_the_group_tester_are_read() {
    assert_eq!(one("syncTime"), Command::SyncTime { most_ns: None });
    let most_ns = Some(200_000);
    assert_eq!(one("synctime 200us"), Command::SyncTime { most_ns });
    assert_eq!(one("waittime 250"), Command::Pause(250_000_000));
    assert_eq!(one("sleep 2"), Command::Pause(2_000_000_000));
    let wait = Command::Await {
        results: Some(4),
        timeout_ns: Some(60_000_000_000),
    };
    assert_eq!(one("waitallresults 4 60s"), wait);
    let Command::Order { who, order } = one("node 1,3-4 set connectnode 2") else {
        panic!("an order");
    };
    assert_eq!(who, Who::Nodes(vec![1, 3, 4], 6));
    assert_eq!(order, Order::Set(Box::new(Order::ConnectNode(2, 28))));
    let Command::Order { order, .. } = one("all sendreceive-n 500000 10 --duplex") else {
        panic!("an order");
    };
    assert!(matches!(
        order,
        Order::SendReceive { size_bytes: 500_000, times: 10, ref options, .. }
            if options[0].text == "--duplex"
    ));
}

#[test]
fn other_spellings_mean_the_same() {
    for (one_way, other) in [
        ("stage 1,3 connectnode 2", "node 1,3 set connectnode 2"),
        ("stage all disconnect", "all set disconnect"),
        ("fire", "all enter"),
        ("wait 250", "waittime 250"),
        ("waitresults 4 60s", "waitallresults 4 60s"),
        ("nodes", "hosts"),
        ("all clear", "all clr"),
        ("exit", "quit"),
    ] {
        // Only the columns differ.
        let plain = |command: Command| {
            let text = format!("{command:?}");
            text.split(|c: char| !c.is_alphabetic())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(plain(one(one_way)), plain(one(other)), "{one_way}");
    }
    let pairs = |text| match one(text) {
        Command::AutoPairs { pairs, .. } => pairs,
        other => panic!("{other:?}"),
    };
    assert_eq!((pairs("autopairs"), pairs("autoPairs 5")), (None, Some(5)));
}

#[test]
fn mistakes_say_where_and_how_to_mend_them() {
    for (text, column, says) in [
        ("node x enter", 6, "names no hosts"),
        ("node 5-2 enter", 6, "names no hosts"),
        ("node 0 enter", 6, "names no hosts"),
        ("all", 4, "no command"),
        ("all set set enter", 9, "cannot stand here"),
        ("all sendreceive-n 1XB 3", 19, "1XB"),
        ("all sendreceive-n 1MB", 18, "needs a size"),
        ("waittime", 9, "needs a time"),
        ("waitallresults many", 16, "not a valid number of hosts"),
        ("enter", 1, "not a word of the console"),
        ("all connectnode 1-2", 17, "several hosts"),
        ("syncTime soon", 10, "soon"),
        ("syncTime 1ms 2", 14, "too much"),
        ("stage", 6, "needs a number"),
        ("stage 1 set enter", 9, "cannot stand here"),
        ("all waittime 5", 5, "cannot stand here"),
        ("fire now", 6, "too much"),
        ("all set enter", 9, "cannot stand here"),
    ] {
        let mistake = parse_line(text, 7).unwrap_err();
        assert_eq!((mistake.line, mistake.column), (7, column), "{text}");
        assert!(english(&mistake.says).contains(says), "{text}: {mistake}");
        for message in [&mistake.says, &mistake.hint] {
            let said = I18n::new(Lang::Ja).text(message);
            let is_japanese = said.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
            // An example alone needs no words.
            assert!(is_japanese || said.starts_with("例: "), "{text}: {said}");
        }
    }
}

#[test]
fn a_script_tells_all_its_mistakes_at_once() {
    let mistakes = parse("# fine\nall enter\nnode\n\nwaittime x\n").unwrap_err();
    let lines: Vec<u32> = mistakes.iter().map(|m| m.line).collect();
    assert_eq!(lines, [3, 5]);
}

proptest! {
    #[test]
    fn any_bytes_are_lines_or_mistakes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        any_bytes(&bytes);
    }

    #[test]
    fn words_in_any_order_are_lines_or_mistakes(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "all", "node", "1", "2-4", "set", "enter", "connectnode", "sendreceive-n",
                "1MB", "waitallresults", "stage", "fire", "autopairs", "rr", "--size", "'", "#", "syncTime", "99999999999",
            ]),
            0..12,
        )
    ) {
        any_bytes(words.join(" ").as_bytes());
    }
}
