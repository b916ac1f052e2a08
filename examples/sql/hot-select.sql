-- The same where a few accounts get most of the questions: the cache of the server holds them.
\set aid random_zipfian(1, 100000 * :scale, 1.3)
select abalance from tpcb_accounts where aid = :aid;
