//! Data of charts over two quantities of which neither is time.

use sokudo_model::Unit;

use crate::block::Phrase;

/// One axis: from 0, or from 0 to 100 %.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Quantity of the axis.
    pub title: Phrase,
    /// Unit of its values.
    pub unit: Unit,
}

/// Way in which the points of a trace are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    /// A bar from the floor, this wide in the unit of the horizontal axis, beginning at the point.
    Bar(f64),
    /// A dot.
    Dot,
    /// Joined by lines.
    Line,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Name of the points, written where the line ends; foreign text.
    pub label: Phrase,
    /// Index into the palette.
    pub colour: usize,
    /// Way in which they are drawn.
    pub mark: Mark,
    /// `(horizontal, vertical)` in the units of the axes; not negative.
    pub points: Vec<(f64, f64)>,
}

/// A drawing over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// The question it answers.
    pub title: Phrase,
    /// Explanation for the reader.
    pub note: Phrase,
    /// Horizontal.
    pub x: Axis,
    /// Vertical.
    pub y: Axis,
    /// Groups of points that are drawn.
    pub traces: Vec<Trace>,
}
