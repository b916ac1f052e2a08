//! The ports at which this host receives load, where its firewall lets only some through.

use clap::Args;
use sokudo_i18n::TextError;
use sokudo_model::Text;
use sokudo_workload::ports::{self, DataPorts};

use super::Failure;

/// Variable that names them for commands which have no such option: the caller's own end.
const VARIABLE: &str = "SOKUDO_DATA_PORTS";

/// Data ports of this host.
#[derive(Debug, Args)]
pub(super) struct PortArgs {
    /// Receive load on these ports alone, UDP and TCP: `5000-5010`. Default: the system chooses.
    #[arg(long, env = VARIABLE, value_name = "FIRST-LAST")]
    data_ports: Option<DataPorts>,
}

impl PortArgs {
    /// From now on loads receive there.
    pub(super) fn apply(&self) {
        if let Some(range) = self.data_ports {
            ports::receive_on(range);
        }
    }
}

/// As [`PortArgs::apply`], for a command without the option.
pub(super) fn apply_variable() -> Result<(), Failure> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(());
    };
    let range = text.to_string_lossy().parse::<DataPorts>();
    let range = range.map_err(|says: TextError| {
        let variable = |key: &str| Text::new(key).word("variable", VARIABLE);
        Failure::operator(
            variable("error-data-ports-variable").text("why", says.text()),
            variable("error-data-ports-variable-hint"),
        )
    })?;
    ports::receive_on(range);
    Ok(())
}
