//! The named entities of HTML 4.

/// Names of the characters from U+00A0 to U+00FF.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg \
    macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 \
    iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave \
    Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc \
    Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc \
    euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave \
    uacute ucirc uuml yacute thorn yuml";

/// Characters beyond, with their names.
const OTHERS: &[(char, &str)] = &[
    ('"', "quot"),
    ('&', "amp"),
    ('<', "lt"),
    ('>', "gt"),
    ('\u{152}', "OElig"),
    ('\u{153}', "oelig"),
    ('\u{160}', "Scaron"),
    ('\u{161}', "scaron"),
    ('\u{178}', "Yuml"),
    ('\u{192}', "fnof"),
    ('\u{2c6}', "circ"),
    ('\u{2dc}', "tilde"),
    ('\u{3d1}', "thetasym"),
    ('\u{3d2}', "upsih"),
    ('\u{3d6}', "piv"),
    ('\u{2002}', "ensp"),
    ('\u{2003}', "emsp"),
    ('\u{2009}', "thinsp"),
    ('\u{200c}', "zwnj"),
    ('\u{200d}', "zwj"),
    ('\u{200e}', "lrm"),
    ('\u{200f}', "rlm"),
    ('\u{2013}', "ndash"),
    ('\u{2014}', "mdash"),
    ('\u{2018}', "lsquo"),
    ('\u{2019}', "rsquo"),
    ('\u{201a}', "sbquo"),
    ('\u{201c}', "ldquo"),
    ('\u{201d}', "rdquo"),
    ('\u{201e}', "bdquo"),
    ('\u{2020}', "dagger"),
    ('\u{2021}', "Dagger"),
    ('\u{2022}', "bull"),
    ('\u{2026}', "hellip"),
    ('\u{2030}', "permil"),
    ('\u{2032}', "prime"),
    ('\u{2033}', "Prime"),
    ('\u{2039}', "lsaquo"),
    ('\u{203a}', "rsaquo"),
    ('\u{203e}', "oline"),
    ('\u{2044}', "frasl"),
    ('\u{20ac}', "euro"),
    ('\u{2111}', "image"),
    ('\u{2118}', "weierp"),
    ('\u{211c}', "real"),
    ('\u{2122}', "trade"),
    ('\u{2135}', "alefsym"),
    ('\u{2190}', "larr"),
    ('\u{2191}', "uarr"),
    ('\u{2192}', "rarr"),
    ('\u{2193}', "darr"),
    ('\u{2194}', "harr"),
    ('\u{21b5}', "crarr"),
    ('\u{21d0}', "lArr"),
    ('\u{21d1}', "uArr"),
    ('\u{21d2}', "rArr"),
    ('\u{21d3}', "dArr"),
    ('\u{21d4}', "hArr"),
    ('\u{2200}', "forall"),
    ('\u{2202}', "part"),
    ('\u{2203}', "exist"),
    ('\u{2205}', "empty"),
    ('\u{2207}', "nabla"),
    ('\u{2208}', "isin"),
    ('\u{2209}', "notin"),
    ('\u{220b}', "ni"),
    ('\u{220f}', "prod"),
    ('\u{2211}', "sum"),
    ('\u{2212}', "minus"),
    ('\u{2217}', "lowast"),
    ('\u{221a}', "radic"),
    ('\u{221d}', "prop"),
    ('\u{221e}', "infin"),
    ('\u{2220}', "ang"),
    ('\u{2227}', "and"),
    ('\u{2228}', "or"),
    ('\u{2229}', "cap"),
    ('\u{222a}', "cup"),
    ('\u{222b}', "int"),
    ('\u{2234}', "there4"),
    ('\u{223c}', "sim"),
    ('\u{2245}', "cong"),
    ('\u{2248}', "asymp"),
    ('\u{2260}', "ne"),
    ('\u{2261}', "equiv"),
    ('\u{2264}', "le"),
    ('\u{2265}', "ge"),
    ('\u{2282}', "sub"),
    ('\u{2283}', "sup"),
    ('\u{2284}', "nsub"),
    ('\u{2286}', "sube"),
    ('\u{2287}', "supe"),
    ('\u{2295}', "oplus"),
    ('\u{2297}', "otimes"),
    ('\u{22a5}', "perp"),
    ('\u{22c5}', "sdot"),
    ('\u{2308}', "lceil"),
    ('\u{2309}', "rceil"),
    ('\u{230a}', "lfloor"),
    ('\u{230b}', "rfloor"),
    ('\u{2329}', "lang"),
    ('\u{232a}', "rang"),
    ('\u{25ca}', "loz"),
    ('\u{2660}', "spades"),
    ('\u{2663}', "clubs"),
    ('\u{2665}', "hearts"),
    ('\u{2666}', "diams"),
];

/// Names of the capital Greek letters from U+0391; U+03A2 is none.
const CAPITALS: &str = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi \
    Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega";

/// Names of the small Greek letters from U+03B1.
const SMALL: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi \
    omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";

/// Names of characters that follow one another.
const RUNS: &[(u32, &str)] = &[(0xa0, LATIN), (0x391, CAPITALS), (0x3b1, SMALL)];

/// The name of a character; `None`: it has none.
pub(super) fn name_of(character: char) -> Option<&'static str> {
    for (first, names) in RUNS {
        if let Some(index) = u32::from(character).checked_sub(*first)
            && let Some(name) = names.split_whitespace().nth(index as usize)
        {
            return Some(name).filter(|name| *name != "-");
        }
    }
    let found = OTHERS.iter().find(|(known, _)| *known == character);
    found.map(|(_, name)| *name)
}

/// The character of a name, or of a number behind `#`; `None`: there is none.
pub(crate) fn character_of(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?);
    }
    for (first, names) in RUNS {
        let index = names.split_whitespace().position(|known| known == name);
        if let Some(index) = index {
            return char::from_u32(first + index as u32);
        }
    }
    let found = OTHERS.iter().find(|(_, known)| *known == name);
    found.map(|(character, _)| *character)
}
