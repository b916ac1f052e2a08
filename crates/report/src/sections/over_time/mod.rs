//! Section: charts over time.

use sokudo_model::Text;

use crate::block::Block;
use crate::tracks;
use crate::view::View;

/// Charts on one shared time axis; the less wanted ones folded away.
pub fn blocks(view: &View) -> Vec<Block> {
    let mut out: Vec<Block> = tracks::main_tracks(view)
        .into_iter()
        .map(|c| Block::Chart(Box::new(c)))
        .collect();
    let others = tracks::other_tracks(view);
    if !others.is_empty() {
        out.push(Block::Details {
            title: Text::new("report-over-time-more")
                .word("n", others.len().to_string())
                .into(),
            open: false,
            blocks: others
                .into_iter()
                .map(|c| Block::Chart(Box::new(c)))
                .collect(),
        });
    }
    if !out.is_empty() {
        out.insert(
            0,
            Block::Paragraph(Text::new("report-over-time-how").into()),
        );
    }
    out
}
