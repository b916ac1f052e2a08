//! Parts of a plan that can be read but not executed.

use sokudo_model::Text;

use crate::compile::Compiler;
use crate::expression::Template;
use crate::plan::{ConfigKind, Plan};
use crate::problem::FilePosition;

/// Reports the parts that would be left out, with the severity that the operator chose.
pub(crate) fn refuse(plan: &Plan, compiler: &mut Compiler<'_>) {
    super::databases::judge(plan, compiler);
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
    let found: Vec<(&FilePosition, &str)> = configs.collect();
    for (place, what) in found {
        let says = Text::new("jmx-not-executed").word("what", what);
        compiler.unsupported(place, says, Some(Text::new("jmx-not-executed-hint")));
    }
}

/// True for authorization mechanisms that are implemented.
fn proves(mechanism: &Template) -> bool {
    let named = mechanism.constant();
    named.is_some_and(|word| {
        let word = word.trim();
        let known = ["", "BASIC", "DIGEST", "BASIC_DIGEST"];
        known.iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}
