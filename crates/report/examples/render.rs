//! Writes made-up records as HTML, Markdown and terminal text.
//!
//! `cargo run -p sokudo-report --example render -- FOLDER`

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::path::PathBuf;

use sokudo_i18n::Lang;
use sokudo_model::Record;

/// Name and maker of a record.
type Sample = (&'static str, fn() -> Record);

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    std::fs::create_dir_all(&folder)?;
    let records: [Sample; 5] = [
        ("datagram", synthetic::datagram),
        ("check", || synthetic::check(1, 2)),
        ("large", synthetic::large),
        ("hostile", synthetic::hostile),
        ("empty", || synthetic::empty("check", &["hosta"])),
    ];
    for (name, make) in records {
        let record = make();
        let page = sokudo_report::html(&record, Lang::En);
        println!("{name}: {} bytes", page.len());
        std::fs::write(folder.join(format!("{name}.html")), page)?;
        for lang in Lang::ALL {
            let text = sokudo_report::markdown(&record, lang);
            std::fs::write(folder.join(format!("{name}.{lang}.md")), text)?;
            print!("{}", sokudo_report::terminal(&record, lang, false, 80));
        }
    }
    Ok(())
}
