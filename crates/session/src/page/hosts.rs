//! Hosts as the page lists them.

use sokudo_controller::Run;
use sokudo_scenario::HostInfo;
use sokudo_web::HostRow;
use sokudo_wire::Health;

use crate::infos;

/// A host as the page lists it, from what it said of itself.
pub fn row(host: &HostInfo) -> HostRow {
    HostRow {
        number: host.number,
        name: host.name.clone(),
        address: host.address.clone(),
        os: host.os.clone(),
        cores: host.cores,
        clock_offset_seconds: host.clock_offset_seconds,
        clock_error_seconds: host.clock_error_seconds,
        health: Health::Ready.word(),
    }
}

/// All hosts of a run; 0 is the one that gives the commands.
pub fn of(run: &Run) -> Vec<HostRow> {
    let rows = infos(run.hosts(), 0).into_iter().map(|host| row(&host));
    let rows = rows.zip(0..).map(|(row, number)| HostRow { number, ..row });
    rows.collect()
}
