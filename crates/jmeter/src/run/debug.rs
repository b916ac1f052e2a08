//! What does a user show of what it knows?

use super::answer::plain_answer;
use super::parts::Leaf;
use super::test::Test;
use super::user::Body;
use crate::plan::{Id, SamplerKind, Value};

impl Body {
    /// A sampler that shows variables.
    pub(super) fn debug(&mut self, test: &Test, now_ns: i64, id: Id) {
        let SamplerKind::Debug { variables, .. } = &test.plan.samplers[id as usize].kind else {
            return;
        };
        let text = self.shown(test, now_ns, variables);
        let answer = plain_answer(&text, "200", "OK", "null", 0, true);
        self.tell_plain(test, (now_ns, now_ns), &answer);
    }

    /// A postprocessor that shows variables: a part of the result under way, as in JMeter.
    pub(super) fn show_below(&mut self, test: &Test, now_ns: i64, variables: &Value<bool>) {
        let bytes = self.shown(test, now_ns, variables).len() as u64;
        self.parts.show(Leaf {
            code: "200".into(),
            message: "OK".into(),
            url: "null".into(),
            encoding: "UTF-8".into(),
            data_type: "text",
            success: true,
            bytes,
            start_ns: now_ns,
            sent_ns: now_ns,
            end_ns: now_ns,
            ..Leaf::default()
        });
    }

    fn shown(&mut self, test: &Test, now_ns: i64, variables: &Value<bool>) -> String {
        let mut text = String::new();
        if self.person.view(test, now_ns).flag(variables) {
            text.push_str("JMeterVariables:\n");
            let mut all: Vec<_> = self.person.variables.iter().collect();
            all.sort();
            all.iter()
                .for_each(|(name, value)| text.extend([name, "=", value, "\n"]));
        }
        text
    }
}
