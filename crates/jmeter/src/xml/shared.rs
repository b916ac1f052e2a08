//! Elements that JMeter writes once, although several places have them.
//!
//! ```text
//! <collectionProp><stringProp name="53">5</stringProp></collectionProp>
//! <collectionProp><stringProp reference="../../collectionProp/stringProp"/></collectionProp>
//! ```
//!
//! A reference is a path from its own element: `..`, or a tag with the number among its like, 1 if there is
//! none. What it names stands before it.

use super::{Element, MOST_DEPTH, MOST_ELEMENTS};
use crate::problem::FilePosition;

/// Puts what references name into their places. The places of those that name nothing before them.
pub(crate) fn fill_references(root: &mut Element) -> Vec<FilePosition> {
    let mut filling = Filling {
        left: MOST_ELEMENTS,
        wrong: Vec::new(),
    };
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found);
    for (at, path) in found {
        filling.fill(root, &at, &path);
    }
    filling.wrong
}

/// The elements with a reference, in order: where they are, and the path.
fn collect(element: &Element, at: &mut Vec<usize>, found: &mut Vec<(Vec<usize>, String)>) {
    if let Some(path) = element.attribute("reference") {
        found.push((at.clone(), path.to_owned()));
    }
    for (index, child) in element.children.iter().enumerate() {
        at.push(index);
        collect(child, at, found);
        at.pop();
    }
}

struct Filling {
    /// Elements that may still be copied.
    left: usize,
    wrong: Vec<FilePosition>,
}

impl Filling {
    fn fill(&mut self, root: &mut Element, at: &[usize], path: &str) {
        let target = resolved(root, at, path);
        // Of two paths the lesser one stands before, unless it leads to what contains the other.
        let target = target.filter(|target| target.as_slice() < at && !at.starts_with(target));
        let copy = target.and_then(|target| self.copy(element_at(root, &target), at.len()));
        let own = at
            .iter()
            .fold(root, |open, index| &mut open.children[*index]);
        match copy {
            Some(copy) => {
                let place = own.place.clone();
                *own = Element { place, ..copy };
            }
            None => self.wrong.push(own.place.clone()),
        }
    }

    /// A copy of an element for a place that is so deep; `None`: it would be too much.
    fn copy(&mut self, element: &Element, depth: usize) -> Option<Element> {
        let (size, own_depth) = size_and_depth(element);
        self.left = self.left.saturating_sub(size);
        (self.left > 0 && depth + own_depth <= MOST_DEPTH).then(|| element.clone())
    }
}

fn element_at<'e>(root: &'e Element, at: &[usize]) -> &'e Element {
    at.iter().fold(root, |open, index| &open.children[*index])
}

/// Where a path leads from an element; `None`: nowhere.
fn resolved(root: &Element, from: &[usize], path: &str) -> Option<Vec<usize>> {
    let mut at = from.to_vec();
    for step in path.split('/') {
        if step == ".." {
            at.pop()?;
            continue;
        }
        let (tag, number) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
            Some((tag, number)) => (tag, number.parse::<usize>().ok()?.checked_sub(1)?),
            None => (step, 0),
        };
        let children = element_at(root, &at).children.iter().enumerate();
        let mut same = children.filter(|(_, child)| child.tag == tag);
        at.push(same.nth(number)?.0);
    }
    Some(at)
}

/// Number of elements, and of those of which each is in the one before.
fn size_and_depth(element: &Element) -> (usize, usize) {
    let below = element.children.iter().map(size_and_depth);
    let (size, depth) = below.fold((0, 0), |(size, depth), (own, deep)| {
        (size + own, depth.max(deep))
    });
    (size + 1, depth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of the leaves, and the lines of references that name nothing.
    fn filled(inside: &str) -> (Vec<String>, Vec<u32>) {
        let text = format!("<r>{inside}</r>");
        let mut root = super::super::parse(&"t.jmx".into(), text.as_bytes()).unwrap();
        let wrong = fill_references(&mut root);
        let mut leaves = Vec::new();
        let mut open = vec![&root];
        while let Some(element) = open.pop() {
            match element.children.is_empty() {
                true => leaves.push(element.text.clone()),
                false => open.extend(element.children.iter().rev()),
            }
        }
        (leaves, wrong.into_iter().map(|place| place.line).collect())
    }

    #[test]
    fn references_have_what_they_name() {
        let told = filled(
            "<c><s n='1'>a</s><s>b</s></c><c><s reference='../../c/s[2]'/><s reference='../s'/></c>\
             <c reference='../c[2]'/>",
        );
        assert_eq!(told.0, ["a", "b", "b", "b", "b", "b"]);
        assert!(told.1.is_empty());
    }

    #[test]
    fn references_to_nothing_are_told() {
        for path in [
            "../x", "../s[3]", "../s[0]", "../../..", "..", "", "../s[2]", "../s[x]",
        ] {
            let (_, wrong) = filled(&format!("<s>a</s>\n<s reference='{path}'/><s>b</s>"));
            assert_eq!(wrong, [2], "{path}");
        }
    }

    #[test]
    fn copies_of_copies_are_bounded() {
        let levels = |copies: usize, levels: usize| {
            let mut text = "<b0><s>x</s></b0>".to_owned();
            for level in 1..levels {
                let copy = format!("<b reference='../../b{}'/>", level - 1);
                text += &format!("<b{level}>{}</b{level}>", copy.repeat(copies));
            }
            !filled(&text).1.is_empty()
        };
        assert!(levels(2, 40) && levels(1, 1000));
        assert!(!levels(2, 10) && !levels(1, 100));
    }
}
