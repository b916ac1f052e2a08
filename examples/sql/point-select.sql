-- One row by its key: what a session, a plan and an index lookup cost, without any lock or log.
-- On the tables of `sokudo db init`; give their branches with --scale.
\set aid random(1, 100000 * :scale)
select abalance from tpcb_accounts where aid = :aid;
