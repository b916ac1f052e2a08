//! Conditions on the tables of `tpcb`.

use sokudo_sql::{Session, SqlError};

use crate::drive::{Checked, How, one};

/// The conditions, each with the statements of its two sides. A transaction without branch leaves tellers and
/// branches as they are.
const CONDITIONS: [(&str, &str, &str); 3] = [
    (
        "sum(abalance) = sum(delta)",
        "select coalesce(sum(abalance), 0) from tpcb_accounts",
        "select coalesce(sum(delta), 0) from tpcb_history",
    ),
    (
        "sum(tbalance) = sum(delta)",
        "select coalesce(sum(tbalance), 0) from tpcb_tellers",
        "select coalesce(sum(delta), 0) from tpcb_history where filler is null",
    ),
    (
        "sum(bbalance) = sum(delta)",
        "select coalesce(sum(bbalance), 0) from tpcb_branches",
        "select coalesce(sum(delta), 0) from tpcb_history where filler is null",
    ),
];

/// Checks the conditions on the tables.
///
/// Errors: those of the server.
pub(super) async fn conditions(session: &mut Session) -> Result<Checked, SqlError> {
    let mut checked = Checked::default();
    for (condition, left, right) in CONDITIONS {
        let (left, right) = (one(session, left).await?, one(session, right).await?);
        checked.note(
            condition,
            (left != right).then_some(How::Sides(left, right)),
        );
    }
    Ok(checked)
}
