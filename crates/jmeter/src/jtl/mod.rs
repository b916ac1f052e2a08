//! What did the requests of a test say, row by row?

mod write;

pub use write::JtlFormat;
