//! Describes what an entry of the zoo is: a cause, how strong it may be, and what shows it.

use crate::draw::Draw;
use crate::family::Family;
use crate::world::World;

/// A sentence in English and in Japanese.
pub type Says = [&'static str; 2];

/// One cause.
pub struct Case {
    /// Its name on the command line and on the page.
    pub name: &'static str,
    /// Limit or disturbance in this world.
    pub says: Says,
    /// Family of conclusions that the program may name.
    pub family: &'static Family,
    /// Strengths of the cause, in the unit of its own: a weak and a strong one.
    pub strengths: [f64; 2],
    /// Commands of the program, any of which shows the cause. `HOST` is the far end, `PORT` its port, `FOLDER` a
    /// folder of it, `{}` the strength, `{2}` twice the strength.
    pub loads: &'static [&'static str],
    /// Makes the world.
    pub make: fn(&mut World, f64),
}

/// Two causes at once, by their names.
pub struct Pair {
    /// The one whose loads are used.
    pub first: &'static str,
    /// The other one.
    pub second: &'static str,
    /// The command of the program, which both concern.
    pub load: &'static str,
}

/// Strength and command that a seed draws for a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Strength of the cause.
    pub strength: f64,
    /// Command of the program; `HOST` stands for the far end.
    pub load: String,
}

impl Case {
    /// The run of this number: even and odd ones take turns between the two strengths.
    pub fn draw(&self, number: u64) -> Drawn {
        let mut draw = Draw::new(number / 2, self.name);
        let turn = (draw.below(2) as u64 + number) % 2;
        let mut draw = Draw::new(number, self.name);
        let strength = draw.around(self.strengths[turn as usize]);
        let load = self.loads[draw.below(self.loads.len())];
        Drawn {
            strength,
            load: filled(load, strength),
        }
    }
}

/// Puts the strength, or a multiple of it, where braces stand.
pub fn filled(template: &str, strength: f64) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, inside, after)) = braces(rest) {
        let factor: f64 = inside.parse().unwrap_or(1.0);
        out.push_str(before);
        out.push_str(&(strength * factor).round().max(1.0).to_string());
        rest = after;
    }
    out + rest
}

/// Texts before, in and behind the first braces.
fn braces(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    Some((before, inside, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes;

    #[test]
    fn the_strength_stands_where_braces_are() {
        assert_eq!(
            filled("a --rate {}Mb/s -n {2.5}", 4.2),
            "a --rate 4Mb/s -n 11"
        );
        assert_eq!(filled("plain", 4.2), "plain");
    }

    #[test]
    fn two_runs_in_a_row_have_both_strengths() {
        for case in causes::cases() {
            let strong = |number| {
                let [weak, strong] = case.strengths;
                let drawn = case.draw(number).strength;
                (drawn - strong).abs() / strong < (drawn - weak).abs() / weak
            };
            assert_ne!(strong(0), strong(1), "{}", case.name);
            assert_ne!(strong(6), strong(7), "{}", case.name);
        }
    }
}
