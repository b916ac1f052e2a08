//! Knobs of the server that is loaded.

use sokudo_model::Text;

use crate::error::ControlError;
use crate::run::Run;

/// Changes knobs of the loaded server for a time. Dropping it puts them back.
pub trait Knobs: Send {
    /// Changes knobs until they are put back; says what changed. Errors: one cannot have this value.
    fn set(&mut self, pairs: &[(String, String)]) -> Result<Text, ControlError>;

    /// Puts all of them back; says what changed.
    fn put_back(&mut self) -> Result<Text, ControlError>;

    /// Key of the message that they were not put back, and who will do it; its variable `why` is the error.
    fn not_put_back(&self) -> &'static str;
}

impl Run {
    /// The run may change the loaded server's knobs through these.
    pub fn take_knobs(&mut self, knobs: Box<dyn Knobs>) {
        self.knobs = Some(knobs);
    }

    /// The knobs of the loaded server. Errors: the run was given none.
    pub(crate) fn knobs(&mut self) -> Result<&mut Box<dyn Knobs>, ControlError> {
        self.knobs.as_mut().ok_or_else(|| ControlError::Operator {
            says: Text::new("error-no-knobs"),
            hint: Some(Text::new("error-no-knobs-hint")),
        })
    }

    /// Changes knobs, and tells the operator and the record. Errors: the run was given none, or one cannot have its
    /// value.
    pub fn set_knobs(&mut self, pairs: &[(String, String)]) -> Result<(), ControlError> {
        let says = self.knobs()?.set(pairs)?;
        self.says(&says);
        Ok(())
    }

    /// Puts the knobs back, and tells the operator; a failure is a problem of the run.
    pub fn put_knobs_back(&mut self) {
        let Ok(knobs) = self.knobs() else { return };
        let (says, left) = (knobs.put_back(), knobs.not_put_back());
        match says {
            Ok(says) => self.says(&says),
            Err(error) => self.note_problem(Text::new(left).word("why", error.to_string())),
        }
    }
}
