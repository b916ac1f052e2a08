//! What is read from plans and cannot be executed?

use sokudo_model::Text;

use crate::compile::Compiler;
use crate::expression::Template;
use crate::plan::{ConfigKind, Plan};
use crate::problem::Place;

/// Notes what an engine would have to leave out, as heavily as the operator wants it.
pub(crate) fn refuse(plan: &Plan, compiler: &mut Compiler<'_>) {
    let configs = plan.configs.iter().filter_map(|config| {
        let what = match &config.kind {
            ConfigKind::Authorization { entries, .. }
                if !entries.iter().all(|entry| proves(&entry.mechanism)) =>
            {
                "AuthManager KERBEROS"
            }
            _ => return None,
        };
        Some((&config.place, what))
    });
    let found: Vec<(&Place, &str)> = configs.collect();
    for (place, what) in found {
        let says = Text::new("jmx-not-executed").word("what", what);
        compiler.unsupported(place, says, Some(Text::new("jmx-not-executed-hint")));
    }
}

/// True for the mechanisms that are spoken.
fn proves(mechanism: &Template) -> bool {
    let named = mechanism.constant();
    named.is_some_and(|word| {
        let word = word.trim();
        let known = ["", "BASIC", "DIGEST", "BASIC_DIGEST"];
        known.iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}
