//! Section: the time of a request, stage by stage.

use crate::block::Block;
use crate::budget;
use crate::view::View;

/// Bars per label and their numbers, of the phase that the few numbers are about.
pub fn blocks(view: &View) -> Vec<Block> {
    view.subject().map(budget::blocks).unwrap_or_default()
}
