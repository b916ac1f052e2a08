//! Draws a sparkline: a course over time in the height of a line of text.

use std::fmt::Write as _;

/// Width and height of a sparkline in CSS pixels.
const SIZE: (f64, f64) = (132.0, 26.0);

/// Draws values between 0 and 1 as a filled line; `None` leaves a gap.
pub fn spark(values: &[Option<f64>]) -> String {
    let (width, height) = SIZE;
    let step = width / (values.len().max(2) - 1) as f64;
    let mut line = String::new();
    let mut area = String::new();
    let mut start: Option<f64> = None;
    for (i, value) in values.iter().enumerate() {
        let x = i as f64 * step;
        match value {
            Some(value) => {
                let y = height - 2.0 - value.clamp(0.0, 1.0) * (height - 4.0);
                let pen = if start.is_none() { 'M' } else { 'L' };
                let _ = write!(line, "{pen}{x:.1} {y:.1}");
                let _ = match start {
                    None => write!(area, "M{x:.1} {height}L{x:.1} {y:.1}"),
                    Some(_) => write!(area, "L{x:.1} {y:.1}"),
                };
                start.get_or_insert(x);
            }
            None => close(&mut area, &mut start, x - step, height),
        }
    }
    close(&mut area, &mut start, width, height);
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" aria-hidden=\"true\">\
         <path class=\"area\" d=\"{area}\"/><path class=\"line\" d=\"{line}\"/></svg>"
    )
}

fn close(area: &mut String, start: &mut Option<f64>, x: f64, height: f64) {
    if start.take().is_some() {
        let _ = write!(area, "L{x:.1} {height}Z");
    }
}
