//! Makes all rows of `dbt3` as text and says how fast, and what their checksums are.
//!
//! ```text
//! cargo run --release -p sokudo-load-sql --example dbt3_rows -- 1        scale factor 1
//! ```

use std::error::Error;
use std::io::Write as _;

use sokudo_load_sql::dbt3::data::{Columns, Maker, Sizes, Table, chunks};
use sokudo_load_sql::dbt3::{Scale, checksums};
use sokudo_net::clock::thread_cpu_ns;

/// Rows as lines of text, counted and forgotten.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    bytes: u64,
    rows: u64,
}

impl Columns for Lines {
    fn int(&mut self, value: i64) {
        // Writing to memory cannot fail.
        let _ = write!(self.text, "{value}|");
    }

    fn text(&mut self, value: &str) {
        self.text.extend_from_slice(value.as_bytes());
        self.text.push(b'|');
    }

    fn end(&mut self) {
        self.text.push(b'\n');
        self.rows += 1;
        if self.text.len() > 1 << 16 {
            self.bytes += self.text.len() as u64;
            self.text.clear();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scale = std::env::args().nth(1).unwrap_or_else(|| "0.1".into());
    let scale: Scale = scale.parse().map_err(|_| "give a scale factor")?;
    let sizes = Sizes {
        suppliers: i64::from(scale.hundredths()) * 100,
    };
    let mut maker = Maker::new(sizes);
    let mut lines = Lines::default();
    let begun_ns = thread_cpu_ns().unwrap_or(0);
    for table in Table::ALL {
        chunks(table, sizes).for_each(|chunk| maker.write(chunk, &mut lines));
    }
    let spent_s = (thread_cpu_ns().unwrap_or(0) - begun_ns) as f64 / 1e9;
    let megabytes = (lines.bytes + lines.text.len() as u64) as f64 / 1e6;
    let per_s = megabytes / spent_s;
    println!(
        "{} rows, {megabytes:.0} MB, {spent_s:.2} CPU seconds: {per_s:.0} MB per CPU second",
        lines.rows
    );
    for (table, digest) in checksums(sizes) {
        println!("{table} {} rows {:016x}", digest.rows, digest.sum);
    }
    Ok(())
}
