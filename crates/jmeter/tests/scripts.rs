//! Scripts have the values that they have in the real Groovy and BeanShell.

use sokudo_jmeter::script::{ScriptLanguage, described, unmade};
use sokudo_testkit::{scripts, skip};

/// Scripts of a file, separated by lines of `---`.
fn scripts_in(text: &str) -> Vec<&str> {
    text.split("---\n").map(str::trim_end).collect()
}

/// Compares all scripts of a file with the real language. Those that are not supported end with a
/// fault that says so; there are at most `most_unsupported`.
fn compare(language: ScriptLanguage, name: &str, text: &str, most_unsupported: usize) {
    let all = scripts_in(text);
    let real = match scripts::evaluate(name, &all) {
        Ok(real) => real,
        Err(why) => return skip(&why),
    };
    assert_eq!(real.len(), all.len());
    let (mut different, mut unsupported) = (Vec::new(), Vec::new());
    for (script, expected) in all.iter().zip(&real) {
        match described(language, script) {
            Ok(said) if alike(&said, expected) => {}
            Ok(said) => different.push(format!("{script}\n  is {expected}\n not {said}")),
            Err(why) => unsupported.push(format!("{script}\n  {expected}\n  {why}")),
        }
    }
    println!("{name}: not supported:\n{}", unsupported.join("\n"));
    assert!(different.is_empty(), "{name}:\n{}", different.join("\n"));
    assert!(
        unsupported.len() <= most_unsupported,
        "{} are not supported",
        unsupported.len()
    );
}

/// True if both are the same; of an exception whose message is not kept the class alone is compared.
fn alike(said: &str, expected: &str) -> bool {
    let class = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let is_untold = said.starts_with('!') && !said.contains(':');
    said == expected || is_untold && class(said) == class(expected)
}

/// The check of a script and the run read the same list of members: whatever the one accepts, the other
/// carries out.
#[test]
fn every_member_that_the_check_accepts_is_carried_out() {
    assert_eq!(unmade().as_deref(), Ok(""));
}

#[test]
fn groovy_scripts_have_the_values_of_the_real_language() {
    let text = include_str!("../testdata/scripts/groovy.txt");
    compare(ScriptLanguage::Groovy, "groovy", text, 15);
}

#[test]
fn beanshell_scripts_have_the_values_of_the_real_language() {
    let text = include_str!("../testdata/scripts/beanshell.txt");
    compare(ScriptLanguage::BeanShell, "beanshell", text, 8);
}
