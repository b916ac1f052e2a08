-- The transfer of `pgbench -b tpcb-like` on the tables of `sokudo db init`.
-- The row of a branch is what all transfers of that branch wait for.
\set account random(1, 100000 * :scale)
\set branch random(1, :scale)
\set teller random(1, 10 * :scale)
\set amount random(-5000, 5000)
begin;
update tpcb_accounts set abalance = abalance + :amount where aid = :account;
select abalance from tpcb_accounts where aid = :account;
update tpcb_tellers set tbalance = tbalance + :amount where tid = :teller;
update tpcb_branches set bbalance = bbalance + :amount where bid = :branch;
insert into tpcb_history (tid, bid, aid, delta, mtime)
  values (:teller, :branch, :account, :amount, current_timestamp);
end;
