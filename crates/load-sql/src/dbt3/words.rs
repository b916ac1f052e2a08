//! Names and words that the rows of `dbt3` are made of.

use sokudo_pace::Random;

pub(super) const REGIONS: [&str; 5] = ["AFRICA", "AMERICAS", "ASIA", "EUROPE", "OCEANIA"];

/// Five nations of each region, in the order of [`REGIONS`].
pub(super) const NATIONS: [&str; 25] = [
    "GHANA", "NAMIBIA", "RWANDA", "SENEGAL", "TUNISIA", "CHILE", "COLOMBIA", "CUBA", "MEXICO",
    "URUGUAY", "BHUTAN", "LAOS", "MALAYSIA", "NEPAL", "THAILAND", "AUSTRIA", "ESTONIA", "IRELAND",
    "NORWAY", "PORTUGAL", "FIJI", "PALAU", "SAMOA", "TONGA", "TUVALU",
];

pub(super) const SEGMENTS: [&str; 5] = ["BAKERY", "CLINIC", "FARMING", "HARBOUR", "SCHOOL"];
/// The first two are the urgent ones.
pub(super) const PRIORITIES: [&str; 5] = ["1-NOW", "2-SOON", "3-NORMAL", "4-LATER", "5-ANY"];
pub(super) const MODES: [&str; 7] = [
    "BARGE",
    "BIKE",
    "CARGO PLANE",
    "CART",
    "LORRY",
    "PIPE",
    "TRAM",
];
pub(super) const INSTRUCTIONS: [&str; 4] = ["CALL FIRST", "HAND OVER", "LEAVE AT DOOR", "NO NOTE"];

/// The words of a part's type: kind, treatment, material.
pub(super) const KINDS: [&str; 6] = ["BARGAIN", "CLASSIC", "DELUXE", "HEAVY", "LIGHT", "USUAL"];
pub(super) const TREATMENTS: [&str; 5] = ["CAST", "COATED", "FORGED", "MILLED", "WOVEN"];
pub(super) const MATERIALS: [&str; 5] = ["BRONZE", "GLASS", "IRON", "OAK", "SLATE"];

/// The words of a container: size and form.
pub(super) const SIZES: [&str; 5] = ["BIG", "FLAT", "ROUND", "TALL", "TINY"];
pub(super) const FORMS: [&str; 8] = [
    "BASKET", "BOTTLE", "BUCKET", "CRATE", "FLASK", "SACK", "TRAY", "TUBE",
];

/// Five of these name a part. None of them is the beginning of another one.
pub(super) const PLANTS: [&str; 92] = [
    "acacia", "alder", "almond", "anise", "apricot", "ash", "aspen", "aster", "balsam", "bamboo",
    "barley", "basil", "beech", "begonia", "birch", "borage", "bracken", "briar", "broom",
    "camellia", "caraway", "cedar", "cherry", "chestnut", "chicory", "clover", "cornel", "cowslip",
    "crocus", "cypress", "daisy", "dill", "dogwood", "ebony", "elder", "elm", "fennel", "fern",
    "fig", "flax", "foxglove", "gentian", "ginger", "gorse", "hazel", "heather", "hemlock",
    "hibiscus", "holly", "hornbeam", "hyssop", "iris", "ivy", "jasmine", "juniper", "larch",
    "laurel", "lavender", "lilac", "linden", "lotus", "lupin", "mallow", "maple", "medlar",
    "mimosa", "myrtle", "nettle", "nutmeg", "oleander", "olive", "peony", "plum", "poplar",
    "poppy", "quince", "rosemary", "rowan", "rye", "saffron", "sage", "sorrel", "spruce", "tansy",
    "thistle", "thyme", "tulip", "vetch", "violet", "walnut", "willow", "yarrow",
];

/// Words of comments. A query looks for comments in which one of [`ADJECTIVES`] stands before one of [`NOUNS`].
const FILLERS: [&str; 40] = [
    "about", "across", "after", "again", "along", "among", "around", "before", "behind", "below",
    "beside", "between", "calmly", "carry", "daily", "early", "evenly", "every", "gather",
    "hardly", "into", "keep", "late", "mostly", "neatly", "never", "often", "over", "pack",
    "quickly", "rest", "seldom", "sort", "stack", "store", "the", "under", "wait", "weigh", "wrap",
];
pub(super) const ADJECTIVES: [&str; 4] = ["express", "fragile", "gift", "sealed"];
pub(super) const NOUNS: [&str; 4] = ["claims", "letters", "parcels", "returns"];

/// Comment of some suppliers, by which a query leaves them out.
pub(super) const COMPLAINT: &str = "buyers sent grievances";

/// Characters that comments are cut from.
const POOL: usize = 1 << 16;

/// Comments without meaning.
pub(super) struct Comments(String);

impl Comments {
    pub(super) fn new() -> Self {
        let mut random = Random::new(0, 3);
        let mut text = String::with_capacity(POOL + 16);
        while text.len() < POOL {
            let words: &[&str] = match random.below(12) {
                0 => &ADJECTIVES,
                1 => &NOUNS,
                _ => &FILLERS,
            };
            text.push_str(one_of(&mut random, words));
            text.push(' ');
        }
        Self(text)
    }

    /// A comment with so many characters, from `least` to `most`.
    pub(super) fn of(&self, random: &mut Random, least: u64, most: u64) -> &str {
        let length = (least + upto(random, most - least + 1)) as usize;
        let from = upto(random, (POOL - length) as u64) as usize;
        &self.0[from..from + length]
    }
}

/// A number below `bound`, as evenly as 64 bits allow, in one multiplication.
#[inline]
pub(super) fn upto(random: &mut Random, bound: u64) -> u64 {
    ((u128::from(random.bits()) * u128::from(bound)) >> 64) as u64
}

/// A number from `least` to `most`.
#[inline]
pub(super) fn between(random: &mut Random, least: i64, most: i64) -> i64 {
    least + upto(random, (most - least + 1) as u64) as i64
}

/// One of some words.
#[inline]
pub(super) fn one_of<'w>(random: &mut Random, words: &[&'w str]) -> &'w str {
    words[upto(random, words.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Engines compare texts by different rules: words in one case, of letters alone, are the same to all of them.
    #[test]
    fn words_are_told_apart_by_every_engine() {
        for words in [&PLANTS[..], &NATIONS, &REGIONS, &MODES, &PRIORITIES] {
            let different: std::collections::BTreeSet<_> = words.iter().collect();
            assert_eq!(different.len(), words.len());
            assert!(
                words
                    .iter()
                    .all(|word| !word.contains(['\'', '%', '_', '\\']))
            );
        }
        for word in PLANTS {
            let begins = PLANTS.iter().filter(|other| other.contains(word));
            assert_eq!(begins.count(), 1, "{word}");
        }
    }
}
