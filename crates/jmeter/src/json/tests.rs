//! Tests of paths on one document; [the comparison with JMeter](../../../sokudo/tests/plans) has more.

use super::{Path, PathFault, Value, read};

const SHOP: &str = r#"{"id":7,"name":"x","tags":["a","b"],"none":null,"o":{"k":"v","n":[1,2]},
 "list":[{"id":1,"n":"one","t":["p"]},{"id":2,"n":"two","t":[]},{"id":3,"n":"Three","t":["p","q"]}]}"#;

/// Values at a path, as texts.
fn found(path: &str) -> Result<Vec<String>, PathFault> {
    let document = read(SHOP).expect("JSON");
    let values = Path::parse(path)?.list(&document)?;
    Ok(values.iter().map(Value::shown).collect())
}

#[track_caller]
fn check(path: &str, expected: &[&str]) {
    let found = found(path).unwrap_or_else(|fault| panic!("{path}: {fault:?}"));
    assert_eq!(found, expected, "{path}");
}

#[test]
fn a_path_may_begin_without_its_root() {
    check("name", &["x"]);
    check("o.k", &["v"]);
    check("list[0].n", &["one"]);
    // Two dots stand at its beginning then.
    check(".id", &["7", "1", "2", "3"]);
}

#[test]
fn a_definite_path_gives_one_value() {
    check("$.tags", &[r#"["a","b"]"#]);
    check("$.none", &["null"]);
    check("$['o']['k']", &["v"]);
    check("$.list[-1].n", &["Three"]);
    // Members of an object stand in the order of Java's hash map.
    check("$.o", &[r#"{"n":[1,2],"k":"v"}"#]);
}

#[test]
fn filters_know_the_librarys_operators() {
    check("$.list[?(@.id > 1)].n", &["two", "Three"]);
    check("$.list[?(@.n =~ /t.*/i)].id", &["2", "3"]);
    check("$.list[?(@.n in ['one','two'])].id", &["1", "2"]);
    check("$.list[?(@.n nin ['one'])].id", &["2", "3"]);
    check("$.list[?(@.t contains 'q')].id", &["3"]);
    check("$.list[?(@.t size 2)].id", &["3"]);
    check("$.list[?(@.t empty true)].id", &["2"]);
    check("$.list[?(@.t anyof ['q'])].id", &["3"]);
    check("$.list[?(@.t subsetof ['p'])].id", &["1", "2"]);
    check("$.list[?(@.id == 1 || @.id == 3)].n", &["one", "Three"]);
    check("$.list[?(!(@.id == 1) && @.n)].n", &["two", "Three"]);
    check("$.list[?(@.id == $.o.n[0])].n", &["one"]);
    check("$.list[?(@.id == '1')].n", &["one"]);
    check("$.list[?(@.missing)]", &[]);
    check("$.list[?(!@.missing)].id", &["1", "2", "3"]);
    check("$.list[?(@.t.length() > 1)].id", &["3"]);
}

#[test]
fn slices_and_unions_select_items() {
    check("$.list[0:2].n", &["one", "two"]);
    check("$.list[-2:].n", &["two", "Three"]);
    check("$.list[:1].n", &["one"]);
    check("$.list[0,2].n", &["one", "Three"]);
    check("$..list[0].n", &["one"]);
}

#[test]
fn faults_tell_a_missing_place_from_an_invalid_path() {
    let missing = |path: &str, says: &str| {
        assert_eq!(found(path), Err(PathFault::NotFound(says.into())));
    };
    missing("$.missing", "No results for path: $['missing']");
    missing("$.missing.x", "Missing property in path $['missing']");
    for invalid in [
        "$.list[?(@.id ~~ 1)]",
        "$.list[x]",
        "$.",
        "",
        "$.list.length()",
    ] {
        assert!(
            matches!(found(invalid), Err(PathFault::Invalid(_))),
            "{invalid}"
        );
    }
}

#[test]
fn nesting_and_work_are_bounded() {
    let deep = "[".repeat(100_000);
    assert_eq!(read(&deep), None);
    let nested = format!("$[?({}@.a{})]", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Path::parse(&nested).is_err());
    let paths = format!("{}$.a{}", "$[?(@.a == ".repeat(10_000), ")]".repeat(10_000));
    assert!(Path::parse(&paths).is_err());
    let large = read(&format!("[[{}]]", "[1,2,3],".repeat(40_000))).expect("JSON");
    let copies = Path::parse("$[?(@ contains $..*)]").expect("a path");
    assert!(matches!(copies.list(&large), Err(PathFault::Invalid(_))));
    let document = read(&format!("{}1{}", "[".repeat(399), "]".repeat(399))).expect("JSON");
    let path = Path::parse("$..*..*..*..*..*").expect("a path");
    assert!(matches!(path.list(&document), Err(PathFault::Invalid(_))));
}

#[test]
fn texts_are_read_leniently() {
    let same = |lenient: &str, strict: &str| assert_eq!(read(lenient), read(strict), "{lenient}");
    same("{'a': 'b', c: d,}", r#"{"a":"b","c":"d"}"#);
    same("<p>", r#""<p>""#);
    same(r#""\u65e5\ud83d\ude00\n""#, "\"日😀\n\"");
    assert_eq!(read("[1"), None);
    assert_eq!(read(""), None);
    assert_eq!(read("1e3"), Some(Value::Double(1000.0)));
    assert_eq!(
        read("[1e10, 1.50, 12345678901234567890, 0.0001]").map(|value| value.shown()),
        Some("[1.0E10,1.5,12345678901234567890,1.0E-4]".into())
    );
}
