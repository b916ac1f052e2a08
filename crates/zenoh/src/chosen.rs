//! Choice of agents of a group, by name or label.

use std::str::FromStr;
use std::time::Duration;

use sokudo_wire::label::{Label, LabelError};

use crate::error::GroupError;
use crate::fleet::{Fleet, Present};

/// Selection among the agents of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// All of them.
    All,
    /// Those that have all of these labels.
    Labelled(Vec<Label>),
    /// The one of this name.
    Named(String),
}

impl FromStr for Chosen {
    type Err = LabelError;

    /// `*`, `site=tokyo,rack=3` or a name.
    fn from_str(text: &str) -> Result<Self, LabelError> {
        match text {
            "*" => Ok(Chosen::All),
            labels if labels.contains('=') => {
                let labels: Result<Vec<Label>, _> = labels.split(',').map(str::parse).collect();
                Ok(Chosen::Labelled(labels?))
            }
            name => Ok(Chosen::Named(name.to_owned())),
        }
    }
}

impl Chosen {
    /// Their names: of those that are connected, unless one is named. Waits up to `bound`.
    ///
    /// Errors: the router does not say who is there.
    pub fn names(&self, fleet: &Fleet<'_>, bound: Duration) -> Result<Vec<String>, GroupError> {
        let having = |wanted: &[Label]| -> Result<Vec<String>, GroupError> {
            let has_all = |agent: &Present| wanted.iter().all(|label| agent.labels.has(label));
            let agents = fleet.agents(bound)?.into_iter().filter(has_all);
            Ok(agents.map(|agent| agent.name).collect())
        };
        match self {
            Chosen::All => having(&[]),
            Chosen::Labelled(wanted) => having(wanted),
            Chosen::Named(name) => Ok(vec![name.clone()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_chosen_by_name_by_labels_or_all() {
        let labels = ["site=tokyo", "rack=3"].map(|label| label.parse().expect("a label"));
        assert_eq!("*".parse(), Ok(Chosen::All));
        assert_eq!(
            "site=tokyo,rack=3".parse(),
            Ok(Chosen::Labelled(labels.into()))
        );
        assert_eq!("hostb".parse(), Ok(Chosen::Named("hostb".into())));
        assert!("site=".parse::<Chosen>().is_err());
    }
}
