//! Remarks about the rows of a file, for its reader.

use sokudo_model::{Text, units};
use sokudo_stats::requests::{MOST_LABELS, Requests};

use super::ReadOutcome;

/// Remarks about the rows, for the reader.
pub fn remarks(requests: &Requests, outcome: &ReadOutcome) -> Vec<Text> {
    let mut out = Vec::new();
    if outcome.cut {
        out.push(Text::new("jtl-remark-cut"));
    }
    // A row that is cut is told already.
    let told = u64::from(outcome.cut && outcome.broken.n == 1);
    if let Some(first) = outcome
        .broken
        .first
        .first()
        .filter(|_| outcome.broken.n > told)
    {
        out.push(
            Text::new("jtl-remark-broken")
                .word("n", units::grouped(outcome.broken.n))
                .word("line", first.line.to_string())
                .text("why", first.why.text()),
        );
    }
    if requests.far > 0 {
        out.push(Text::new("jtl-remark-far").word("n", units::grouped(requests.far)));
    }
    if requests.labels_joined {
        out.push(Text::new("jtl-remark-labels").word("most", MOST_LABELS.to_string()));
    }
    if outcome.inner > 0 {
        out.push(Text::new("jtl-remark-inner").word("n", units::grouped(outcome.inner)));
    }
    out
}

#[cfg(test)]
mod tests {
    use sokudo_stats::requests::{Settings, Tally};

    use super::*;
    use crate::jtl::read;

    fn keys(bytes: &[u8]) -> Vec<String> {
        let mut tally = Tally::new(Settings::default());
        let outcome = read(bytes, |row| tally.add(row)).expect("rows");
        let remarks = remarks(&tally.finish(), &outcome);
        remarks.into_iter().map(|remark| remark.key).collect()
    }

    #[test]
    fn a_row_that_is_cut_is_told_once() {
        let head = "timeStamp,elapsed,label,success\n1,2,a,true\n";
        assert!(keys(head.as_bytes()).is_empty());
        assert_eq!(keys(format!("{head}1,2").as_bytes()), ["jtl-remark-cut"]);
        let broken = format!("{head}x,2,a,true\n1,2");
        assert_eq!(
            keys(broken.as_bytes()),
            ["jtl-remark-cut", "jtl-remark-broken"]
        );
    }

    #[test]
    fn what_is_inside_of_samples_is_told() {
        let xml = include_bytes!("../../testdata/jtl/default.xml");
        assert_eq!(keys(xml), ["jtl-remark-inner"]);
    }
}
