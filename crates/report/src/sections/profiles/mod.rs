//! Section: settings of a server that were measured in turns, beside each other.

use crate::block::Block;
use crate::compare;
use crate::view::View;

/// What the first settings differ from themselves, and the others from them; nothing when none were compared.
pub fn blocks(view: &View) -> Vec<Block> {
    let found = view.profiles.as_ref();
    found.map_or_else(Vec::new, |found| compare::profiles(view.record, found))
}
