use proptest::prelude::*;
use sokudo_workload::Options as _;

use super::file_text::FileText;
use super::mix::{Mix, NotAMix, any_text};
use super::program::{Capture, Form, Step};
use super::*;
use crate::options::CommonOptions;

fn file(path: &str, text: &str) -> FileText {
    FileText {
        path: path.into(),
        weight: 1,
        text: Some(text.into()),
    }
}

fn read(path: &str, text: &str) -> Result<Mix, (u32, String)> {
    Mix::read(&[file(path, text)], &[]).map_err(|wrong| match wrong {
        NotAMix::Wrong(_, wrong) => (wrong.line, wrong.says.key),
        other => (0, format!("{other:?}")),
    })
}

/// A step in a few words.
fn shown(step: &Step) -> String {
    match step {
        Step::Set(variable, _) => format!("set {}", variable.index()),
        Step::Statement(statement) => {
            let form = match &statement.form {
                Form::Prepared(sql, parameters) => format!("{sql} ({})", parameters.len()),
                Form::Written => "written".into(),
                Form::Plain(sql) => format!("plain {sql}"),
            };
            let capture = match &statement.capture {
                Capture::None => String::new(),
                Capture::One(prefix) => format!(" one {prefix}"),
                Capture::Last(prefix) => format!(" last {prefix}"),
                Capture::Columns(all) => format!(" columns {}", all.len()),
            };
            format!("{}: {form}{capture}", statement.line)
        }
        Step::Jump(aim) => format!("jump {aim}"),
        Step::Unless(_, aim) => format!("unless {aim}"),
        Step::Begin(_) => "begin".into(),
        Step::Commit => "commit".into(),
        Step::Rollback => "rollback".into(),
        Step::Sleep(_, unit_us) => format!("sleep {unit_us}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_script_of_pgbench_is_read_as_it_is() {
    let mix = read(
        "a/tpcb-like.sql",
        "-- a comment; with a semicolon\n\
         \\set aid random(1, 100000 * :scale)\n\
         \\set delta random(-5000, \\\n  5000)\n\
         BEGIN;\n\
         UPDATE accounts SET abalance = abalance + :delta\n  WHERE aid = :aid;\n\
         SELECT abalance FROM accounts WHERE aid = :aid \\gset b_\n\
         \\if :b_abalance > 0\n\
         SELECT 1;\n\
         \\elif :b_abalance is null\n\
         \\sleep 10 ms\n\
         \\else\n\
         SELECT ':aid' \\aset\n\
         \\endif\n\
         vacuum;\n\
         END\n",
    )
    .expect("a script");
    let one = &mix.transactions[0];
    assert_eq!(one.name, "tpcb-like");
    let steps: Vec<String> = one.steps.iter().map(shown).collect();
    assert_eq!(
        steps,
        [
            "set 4",
            "set 5",
            "begin",
            "6: UPDATE accounts SET abalance = abalance + $1\n  WHERE aid = $2 (2)",
            "8: SELECT abalance FROM accounts WHERE aid = $1 (1) one b_",
            "unless 8",
            "10: SELECT 1 (0)",
            "jump 12",
            "unless 11",
            "sleep 1000",
            "jump 12",
            "14: written last ",
            "16: plain vacuum",
            "commit",
        ]
    );
}

#[test]
fn a_mix_in_toml_is_read() {
    let mix = read(
        "book.toml",
        r#"
[[transaction]]
name = "read"
weight = 9
parameter = [{ name = "id", zipfian = [1, 100, 1.2] }]
statement = [{ sql = "select v from t where id = :id;", capture = ["v"], rows = 1 }]

[[transaction]]
name = "write"
isolation = "serializable"
[[transaction.parameter]]
name = "note"
text = [3, 8]
[[transaction.parameter]]
name = "n"
expression = ":v + 1"
[[transaction.statement]]
sql = "update t set v = :n, note = :note where id = 1"
rows = [0, 1]
[[transaction.statement]]
sql = "select 1"
"#,
    )
    .expect("a mix");
    let told: Vec<(&str, u64, usize)> = mix
        .transactions
        .iter()
        .map(|one| (one.name.as_str(), one.weight, one.steps.len()))
        .collect();
    assert_eq!(told, [("read", 9, 2), ("write", 1, 6)]);
    assert_eq!(
        shown(&mix.transactions[0].steps[1]),
        "6: select v from t where id = $1 (1) columns 1"
    );
    assert_eq!(mix.prepared, 3);
}

#[test]
fn what_is_not_supported_is_refused_with_its_line() {
    for (text, line, key) in [
        (
            "select 1;\n\\startpipeline\n",
            2,
            "error-sqlmix-pipeline-open",
        ),
        ("select 1;\n\\endpipeline\n", 2, "error-sqlmix-pipeline-end"),
        (
            "\\startpipeline\n\\startpipeline\n\\endpipeline",
            2,
            "error-sqlmix-pipeline-within",
        ),
        (
            "\\startpipeline\nselect 1 \\gset\n\\endpipeline",
            2,
            "error-sqlmix-pipeline-within",
        ),
        (
            "\\if true\n\\startpipeline\n\\else\nselect 1;\n\\endpipeline\n\\endif",
            2,
            "error-sqlmix-pipeline-open",
        ),
        (
            "\\startpipeline\n\\if true\nselect 1;\n\\endpipeline\n\\endif",
            4,
            "error-sqlmix-pipeline-end",
        ),
        (
            "\\set a 1\n\\startpipeline\nselect ':a';\n\\endpipeline",
            3,
            "error-sqlmix-pipeline-written",
        ),
        ("select 1 \\; select 2;", 1, "error-sqlmix-command"),
        ("\\shell ls", 1, "error-sqlmix-command"),
        ("\n\\gset", 2, "error-sqlmix-capture"),
        ("\\set a 1\n\\gset", 2, "error-sqlmix-capture"),
        ("begin \\gset", 1, "error-sqlmix-capture"),
        ("\\set 1a 2", 1, "error-sqlmix-name"),
        ("\\set a 1 +", 1, "error-sqlmix-expression-end"),
        ("\\set a :nothing\n", 1, "error-sqlmix-variable"),
        (
            "select 1;\n\n\\if true\nselect 2;",
            3,
            "error-sqlmix-branch-open",
        ),
        ("\\endif", 1, "error-sqlmix-branch"),
        (
            "\\if true\n\\else\n\\else\n\\endif",
            3,
            "error-sqlmix-branch",
        ),
        (
            "\\if true\n\\else\n\\elif true\n\\endif",
            3,
            "error-sqlmix-branch",
        ),
        ("\\sleep", 1, "error-sqlmix-sleep"),
        ("\\sleep 1 h", 1, "error-sqlmix-sleep"),
        ("\\sleep -1 s", 1, "error-sqlmix-sleep"),
        ("select 1;\nselect 'open", 2, "error-sqlmix-open"),
        ("-- nothing\n", 1, "error-sqlmix-empty"),
        ("", 1, "error-sqlmix-empty"),
    ] {
        assert_eq!(
            read("a.sql", text).err(),
            Some((line, key.into())),
            "{text}"
        );
    }
    for (text, line, key) in [
        (
            "[[transaction]]\nname = \"a\"\nweigth = 2\nstatement = []",
            3,
            "error-sqlmix-toml",
        ),
        (
            "[[transaction]]\nname = \"a\"\nstatement = []",
            1,
            "error-sqlmix-empty",
        ),
        ("", 1, "error-sqlmix-empty"),
        (
            "[[transaction]]\nname = \"a\"\nstatement = [{ sql = \"begin\" }]",
            3,
            "error-sqlmix-block",
        ),
        (
            "[[transaction]]\nname = \"a\"\nstatement = [{ sql = \"select 1; select 2\" }]",
            3,
            "error-sqlmix-several",
        ),
        (
            "[[transaction]]\nname = \"a\"\nparameter = [{ name = \"x\" }]\nstatement = [{ sql = \"select 1\" }]",
            3,
            "error-sqlmix-ways",
        ),
        (
            "[[transaction]]\nname = \"a\"\nparameter = [{ name = \"x\", uniform = [2, 1] }]\nstatement = [{ sql = \"select 1\" }]",
            3,
            "error-sqlmix-range",
        ),
        (
            "[[transaction]]\nname = \"a\"\nparameter = [{ name = \"x\", zipfian = [1, 2, 0.9] }]\nstatement = [{ sql = \"select 1\" }]",
            3,
            "error-sqlmix-range",
        ),
        (
            "[[transaction]]\nname = \"a\"\nparameter = [{ name = \"x y\", text = [1, 2] }]\nstatement = [{ sql = \"select 1\" }]",
            3,
            "error-sqlmix-name",
        ),
    ] {
        assert_eq!(
            read("a.toml", text).err(),
            Some((line, key.into())),
            "{text}"
        );
    }
}

#[test]
fn transactions_of_the_same_name_are_told_apart_and_weights_multiply() {
    let mut twice = [file("a/x.sql", "select 1"), file("b/x.sql", "select 2")];
    twice[1].weight = 3;
    let mix = Mix::read(&twice, &[]).expect("a mix");
    let told: Vec<(&str, u64)> = mix
        .transactions
        .iter()
        .map(|it| (it.name.as_str(), it.weight))
        .collect();
    assert_eq!(told, [("x", 1), ("x #2", 3)]);
    twice.iter_mut().for_each(|file| file.weight = 0);
    assert_eq!(Mix::read(&twice, &[]).err(), Some(NotAMix::NoWeight));
}

#[test]
fn options_survive_json_with_the_texts_of_their_files() {
    let options = SqlmixOptions {
        common: CommonOptions {
            clients: 8,
            pool: Some(2),
            ..CommonOptions::default()
        },
        file: vec![file("a.sql", "select :x;\n")],
        define: vec!["x=3".parse().expect("a value")],
        ..SqlmixOptions::default()
    };
    assert!(options.validate().is_ok());
    let read: SqlmixOptions = serde_json::from_str(&options.to_json()).expect("options");
    assert_eq!(read, options);
    assert_eq!(options.of_hosts(3).common.pool, Some(6));
    let unread = SqlmixOptions {
        file: vec!["nothing/here.sql".parse().expect("a file")],
        ..SqlmixOptions::default()
    };
    assert_eq!(unread.names_file(), Some("file"));
    assert!(unread.clone().read_files().is_err());
    assert!(SqlmixOptions::default().validate().is_err());
    let few = |pool, threads| CommonOptions {
        clients: 8,
        pool: Some(pool),
        threads,
        ..CommonOptions::default()
    };
    assert!(few(2, 3).validate().is_err());
    assert!(few(3, 3).validate().is_ok());
}

proptest! {
    /// Any text is read or refused, and every jump leads to a step.
    #[test]
    fn any_text_is_read_or_refused(
        text in "(\\\\(set|if|elif|else|endif|gset|aset|sleep)? ?|[a-z]{1,6} ?|:[a-z]{1,3}|[0-9]{1,3}|[;'\"()+*/$\n =\\[\\]{}-]){0,40}"
    ) {
        any_text(&text);
    }
}
