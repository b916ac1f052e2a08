-- The transfer of `pgbench -b simple-update`: without teller and branch, so that transfers seldom wait for each other.
\set account random(1, 100000 * :scale)
\set branch random(1, :scale)
\set teller random(1, 10 * :scale)
\set amount random(-5000, 5000)
begin;
update tpcb_accounts set abalance = abalance + :amount where aid = :account;
select abalance from tpcb_accounts where aid = :account;
insert into tpcb_history (tid, bid, aid, delta, mtime, filler)
  values (:teller, :branch, :account, :amount, current_timestamp, 'no-branch');
end;
