//! The transaction of `tpcb`.

use sokudo_sql::{Begin, Session, SqlError, Statement, Value};

use super::options::Variant;
use super::tables::{ACCOUNTS, TELLERS};
use crate::drive::{Attempt, Client, Mark, Noted, Transactions};
use crate::tables::gone;

/// Largest amount that a transaction moves, in either direction.
const MOST: i64 = 5000;

/// Transactions on a database with so many branches.
pub(crate) struct Transfers {
    pub(super) scale: i64,
    pub(super) variant: Variant,
    /// The statements of a transaction travel together.
    pub(super) is_pipelined: bool,
}

/// The statements of one session.
pub(crate) enum Prepared {
    Select(Statement),
    Transfer(Box<Transfer>),
}

pub(crate) struct Transfer {
    account: Statement,
    balance: Statement,
    /// Teller and branch; `None` for the variant without them.
    counter: Option<(Statement, Statement)>,
    history: Statement,
    /// What begins and ends a transaction in a pipeline; `None` without.
    bounds: Option<(Statement, Statement)>,
}

/// Account, teller, branch and amount of one transaction.
pub(crate) struct Input {
    aid: i64,
    tid: i64,
    bid: i64,
    delta: i64,
    mark: Option<Mark>,
}

impl Transactions for Transfers {
    type Parts = ();
    type Prepared = Prepared;
    type Seat = ();
    type Input = Input;

    fn seat(&self, _number: u64) {}

    async fn prepare(&self, session: &mut Session) -> Result<Prepared, SqlError> {
        let balance = session
            .prepare("select abalance from tpcb_accounts where aid = $1")
            .await?;
        if self.variant == Variant::Select {
            return Ok(Prepared::Select(balance));
        }
        let counter = match self.variant {
            Variant::Full => {
                let teller = "update tpcb_tellers set tbalance = tbalance + $1 where tid = $2";
                let branch = "update tpcb_branches set bbalance = bbalance + $1 where bid = $2";
                Some((
                    session.prepare(teller).await?,
                    session.prepare(branch).await?,
                ))
            }
            Variant::NoBranch | Variant::Select => None,
        };
        let kind = if counter.is_some() {
            "null"
        } else {
            "'no-branch'"
        };
        let history = format!(
            "insert into tpcb_history (tid, bid, aid, delta, mtime, client, sequence, filler) \
             values ($1, $2, $3, $4, current_timestamp, $5, $6, {kind})"
        );
        let bounds = match self.is_pipelined {
            true => Some((
                session.prepare("begin").await?,
                session.prepare("commit").await?,
            )),
            false => None,
        };
        Ok(Prepared::Transfer(Box::new(Transfer {
            bounds,
            account: session
                .prepare("update tpcb_accounts set abalance = abalance + $1 where aid = $2")
                .await?,
            balance,
            counter,
            history: session.prepare(&history).await?,
        })))
    }

    fn draw(&self, client: &mut Client<()>) -> Input {
        let random = &mut client.random;
        Input {
            aid: random.between(1, ACCOUNTS * self.scale),
            tid: random.between(1, TELLERS * self.scale),
            bid: random.between(1, self.scale),
            delta: random.between(-MOST, MOST),
            mark: (self.variant != Variant::Select).then(|| client.ledger.next()),
        }
    }

    async fn attempt(&self, session: &mut Session, prepared: &Prepared, input: &Input) -> Attempt {
        match prepared {
            Prepared::Select(balance) => {
                match session.execute(balance, &[input.aid.into()]).await? {
                    0 => Err(gone("tpcb_accounts")),
                    _ => Ok(Noted::default()),
                }
            }
            Prepared::Transfer(transfer) => transfer.carry_out(session, input).await,
        }
    }

    fn is_marked(&self, input: &Input) -> bool {
        input.mark.is_some()
    }
}

impl Transfer {
    async fn carry_out(&self, session: &mut Session, input: &Input) -> Attempt {
        let delta = Value::Int(input.delta);
        let (client, sequence) = input
            .mark
            .map_or((0, 0), |mark| (mark.client, mark.sequence));
        let account = [delta.clone(), input.aid.into()];
        let teller = [delta.clone(), input.tid.into()];
        let branch = [delta.clone(), input.bid.into()];
        let row = [
            input.tid.into(),
            input.bid.into(),
            input.aid.into(),
            delta,
            client.into(),
            sequence.into(),
        ];
        let update = ("tpcb_accounts", &self.account, &account[..]);
        let select = ("tpcb_accounts", &self.balance, &account[1..]);
        let insert = ("tpcb_history", &self.history, &row[..]);
        match &self.counter {
            Some((tellers, branches)) => {
                let tellers = ("tpcb_tellers", tellers, &teller[..]);
                let branches = ("tpcb_branches", branches, &branch[..]);
                self.send(session, [update, select, tellers, branches, insert])
                    .await
            }
            None => self.send(session, [update, select, insert]).await,
        }
    }

    /// Executes statements as one transaction, each with the table that it is about.
    ///
    /// Errors: one of them does not find its row. The commit of those that travel together is behind them by then: what the
    /// others did stays.
    async fn send<const N: usize>(
        &self,
        session: &mut Session,
        steps: [(&str, &Statement, &[Value<'_>]); N],
    ) -> Attempt {
        match &self.bounds {
            Some((begin, commit)) => {
                let mut all = Vec::with_capacity(N + 2);
                all.push((begin, &[][..]));
                all.extend(steps.map(|(_, statement, values)| (statement, values)));
                all.push((commit, &[][..]));
                let counts = session.pipeline(&all).await?;
                // The first is that of the begin.
                let mut found = steps.iter().zip(counts.iter().skip(1));
                if let Some(((table, ..), _)) = found.find(|(_, rows)| **rows == 0) {
                    return Err(gone(table));
                }
            }
            None => {
                session.begin(Begin::Write).await?;
                for (table, statement, values) in steps {
                    if session.execute(statement, values).await? == 0 {
                        return Err(gone(table));
                    }
                }
                session.commit().await?;
            }
        }
        Ok(Noted::default())
    }
}
