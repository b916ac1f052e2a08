//! Loads on databases as whole phases, driven through the workload's contract.

mod dbt1;
mod dbt2;
mod dbt3;
mod dump;
mod faults;
mod playing;
mod sqlmix;
mod statements;
mod tpcb;
