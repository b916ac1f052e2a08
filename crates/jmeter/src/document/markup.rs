//! Parsing of HTML within bounds.
//!
//! ```text
//! text ─ measured ─ pieces ─► tokenizer ─ tokens ─► Bounded ─► tree builder ─ changes ─► Counted ─► tree
//! ```
//!
//! The parser follows the standard, whose algorithm is quadratic in places: every tag may walk over all open
//! elements and all formatting elements that are to be opened again, and every attribute is compared with all
//! others of its tag. So what one tag may cost is bounded by bounding what it walks over, and what all of them
//! cost is counted. Beyond a bound the rest is not parsed.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{
    ElementFlags, NodeOrText, QuirksMode, TokenizerResult, Tracer, TreeSink,
};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, QualName};
use scraper::{Html, HtmlTreeSink};

use super::{MOST_ATTRIBUTES, MOST_DEPTH, MOST_NODES};

/// Longest text, bytes.
const MOST_BYTES: usize = 64 << 20;
/// Most open elements, those that are to be opened again counted with them.
const MOST_OPEN: usize = 2 * MOST_DEPTH;
/// Most steps of one document; a step is a few nanoseconds.
const MOST_STEPS: u64 = 100_000_000;
/// Steps that a new node counts.
const STEPS_PER_NODE: u64 = 16;
/// Attributes that are compared in one step.
const COMPARED_PER_STEP: u64 = 4;
/// Tokens after which open elements are counted again.
const TOKENS_PER_COUNT: u32 = 32;
/// Bytes after which the parser is asked whether it goes on.
const PIECE_BYTES: usize = 16 << 10;

/// The handle of a node.
type Handle = <HtmlTreeSink as TreeSink>::Handle;

/// The tree that browsers build of a text. Fails if that would exceed the bounds.
pub(crate) fn parse(text: &str) -> Result<Html, String> {
    parse_within(text, MOST_STEPS)
}

fn parse_within(text: &str, most_steps: u64) -> Result<Html, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("the page is longer than {} MiB", MOST_BYTES >> 20));
    }
    measure(text)?;
    let tree = Counted {
        inner: HtmlTreeSink::new(Html::new_document()),
        steps: Cell::new(0),
        nodes: Cell::new(0),
        root_attributes: Cell::new(0),
    };
    let bounded = Bounded {
        builder: TreeBuilder::new(tree, TreeBuilderOpts::default()),
        most_steps,
        tokens: Cell::new(0),
        open: Cell::new(0),
        widest: Cell::new(0),
        refused: Cell::new(None),
    };
    let tokenizer = Tokenizer::new(bounded, TokenizerOpts::default());
    let input = BufferQueue::default();
    for piece in pieces(text) {
        input.push_back(StrTendril::from(piece));
        // Scripts are not run, and the text is decoded already.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if tokenizer.sink.refused.get().is_some() {
            break;
        }
    }
    tokenizer.sink.check();
    if let Some(refusal) = tokenizer.sink.refused.get() {
        return Err(refusal.says());
    }
    tokenizer.end();
    match tokenizer.sink.refused.get() {
        Some(refusal) => Err(refusal.says()),
        None => Ok(tokenizer.sink.builder.sink.finish()),
    }
}

/// A text in pieces of whole characters.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE_BYTES));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The reason why a page is not parsed to its end.
#[derive(Debug, Clone, Copy)]
enum Refusal {
    Attributes,
    Nodes,
    Open,
    Steps,
}

impl Refusal {
    fn says(self) -> String {
        match self {
            Self::Attributes => {
                format!("an element of the page has more than {MOST_ATTRIBUTES} attributes")
            }
            Self::Nodes => format!("the page has more than {MOST_NODES} nodes"),
            Self::Open => format!("elements of the page are nested deeper than {MOST_DEPTH}"),
            Self::Steps => {
                "the page takes too long to parse: too many of its elements are not closed".into()
            }
        }
    }
}

/// Passes tokens on to the tree builder, within the bounds.
struct Bounded {
    builder: TreeBuilder<Handle, Counted>,
    most_steps: u64,
    /// Tokens since open elements were counted.
    tokens: Cell<u32>,
    /// Open elements and formatting elements, when they were last counted.
    open: Cell<usize>,
    /// Most attributes of a formatting element.
    widest: Cell<usize>,
    refused: Cell<Option<Refusal>>,
}

impl Bounded {
    /// Refuses what is beyond the bounds so far.
    fn check(&self) {
        let tree = &self.builder.sink;
        let refusal = match () {
            () if self.open.get() > MOST_OPEN => Refusal::Open,
            () if tree.nodes.get() > MOST_NODES => Refusal::Nodes,
            () if tree.steps.get() > self.most_steps => Refusal::Steps,
            () => return,
        };
        self.refused.set(self.refused.get().or(Some(refusal)));
    }

    /// Counts the open elements now and then.
    fn count(&self) {
        let tokens = self.tokens.get();
        self.tokens.set((tokens + 1) % TOKENS_PER_COUNT);
        if tokens == 0 {
            let counter = Counter::default();
            self.builder.trace_handles(&counter);
            self.open.set(counter.0.get());
            self.builder.sink.step(counter.0.get() as u64);
        }
    }

    /// Counts what the tokenizer and the list of formatting elements compare.
    fn compare(&self, tag: &Tag) {
        let attributes = tag.attrs.len();
        if attributes > MOST_ATTRIBUTES {
            self.refused.set(Some(Refusal::Attributes));
        }
        let own = attributes as u64;
        let mut compared = own * own / 2;
        if matches!(tag.kind, TagKind::StartTag) && is_formatting(&tag.name) {
            self.widest.set(self.widest.get().max(attributes));
            // Both lists of attributes are copied and sorted for each element that has this name.
            let other = self.widest.get() as u64;
            let open = self.open.get() as u64 + u64::from(self.tokens.get());
            compared += open * (1 + 2 * (own + other));
        }
        self.builder.sink.step(compared / COMPARED_PER_STEP);
    }
}

/// Names of the elements that are opened again where they were not closed.
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

impl TokenSink for Bounded {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if self.refused.get().is_some() {
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token {
            self.compare(tag);
            self.count();
        }
        self.check();
        match self.refused.get() {
            Some(_) => TokenSinkResult::Continue,
            None => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Counts the elements that a tree builder holds.
#[derive(Default)]
struct Counter(Cell<usize>);

impl Tracer for Counter {
    type Handle = Handle;

    fn trace_handle(&self, _: &Handle) {
        self.0.set(self.0.get() + 1);
    }
}

/// A tree that counts what is done with it.
struct Counted {
    inner: HtmlTreeSink,
    steps: Cell<u64>,
    nodes: Cell<usize>,
    /// Attributes that repeated tags of the page and its body brought.
    root_attributes: Cell<u64>,
}

impl Counted {
    fn step(&self, steps: u64) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    fn node(&self) {
        self.nodes.set(self.nodes.get() + 1);
        self.step(STEPS_PER_NODE);
    }
}

impl TreeSink for Counted {
    type Handle = Handle;
    type Output = Html;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Html {
        self.inner.finish()
    }

    /// Every page has some; nobody reads them.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.inner.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> Ref<'a, QualName> {
        self.step(1);
        self.inner.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.node();
        self.step(attrs.len() as u64);
        // An attribute becomes a node, too.
        self.nodes.set(self.nodes.get() + attrs.len());
        self.inner.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.node();
        self.inner.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.node();
        self.inner.create_pi(target, data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.step(1);
        self.inner.append(parent, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        prev_element: &Handle,
        child: NodeOrText<Handle>,
    ) {
        self.step(1);
        self.inner
            .append_based_on_parent_node(element, prev_element, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.inner.append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        self.inner.get_template_contents(target)
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        self.step(1);
        self.inner.same_node(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.inner.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Handle, new_node: NodeOrText<Handle>) {
        self.step(1);
        self.inner.append_before_sibling(sibling, new_node);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        let (old, new) = (self.root_attributes.get(), attrs.len() as u64);
        self.root_attributes.set(old + new);
        self.step(new * (8 + old / COMPARED_PER_STEP));
        self.inner.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.step(1);
        self.inner.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let children = RefCell::borrow(&self.inner.0)
            .tree
            .get(*node)
            .map_or(0, |node| node.children().count());
        self.step(children as u64);
        self.inner.reparent_children(node, new_parent);
    }
}

/// A place in a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagState {
    Name,
    BeforeAttribute,
    Attribute,
    AfterAttribute,
    BeforeValue,
    DoubleQuoted,
    SingleQuoted,
    Unquoted,
}

impl TagState {
    const ALL: [Self; 8] = [
        Self::Name,
        Self::BeforeAttribute,
        Self::Attribute,
        Self::AfterAttribute,
        Self::BeforeValue,
        Self::DoubleQuoted,
        Self::SingleQuoted,
        Self::Unquoted,
    ];

    /// The place after a byte; `None`: the tag has ended.
    ///
    /// Source: HTML Living Standard, sections 13.2.5.8 and 13.2.5.32 to 13.2.5.40.
    fn after(self, byte: u8) -> Option<Self> {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        Some(match (self, byte) {
            (Self::DoubleQuoted, b'"') | (Self::SingleQuoted, b'\'') => Self::BeforeAttribute,
            (Self::DoubleQuoted | Self::SingleQuoted, _) => self,
            (_, b'>') => return None,
            (Self::BeforeValue, b'"') => Self::DoubleQuoted,
            (Self::BeforeValue, b'\'') => Self::SingleQuoted,
            (Self::BeforeValue, _) if is_blank => Self::BeforeValue,
            (Self::Unquoted, _) if is_blank => Self::BeforeAttribute,
            (Self::BeforeValue | Self::Unquoted, _) => Self::Unquoted,
            (Self::Attribute | Self::AfterAttribute, _) if is_blank => Self::AfterAttribute,
            (Self::Attribute | Self::AfterAttribute, b'=') => Self::BeforeValue,
            (_, b'/') => Self::BeforeAttribute,
            (Self::Name | Self::BeforeAttribute, _) if is_blank => Self::BeforeAttribute,
            (Self::Name, _) => Self::Name,
            (Self::BeforeAttribute | Self::Attribute | Self::AfterAttribute, _) => Self::Attribute,
        })
    }

    /// True when an attribute begins where this place is followed by that one.
    fn begins_attribute(self, next: Self) -> bool {
        next == Self::Attribute && self != Self::Attribute
    }
}

/// Refuses a text with a tag of too many attributes, which the tokenizer compares with each other before
/// anybody sees the tag. Wherever a tag may begin, one is taken to begin: in scripts and comments, too.
fn measure(text: &str) -> Result<(), String> {
    // The most attributes of a tag that is in this place.
    let mut tags: [Option<usize>; TagState::ALL.len()] = [None; TagState::ALL.len()];
    let mut are_open = false;
    let mut before = [0_u8; 2];
    for byte in text.bytes() {
        if are_open {
            let mut next = [None; TagState::ALL.len()];
            are_open = false;
            for place in TagState::ALL {
                let Some(attributes) = tags[place as usize] else {
                    continue;
                };
                let Some(then) = place.after(byte) else {
                    continue;
                };
                let attributes = attributes + usize::from(place.begins_attribute(then));
                if attributes > MOST_ATTRIBUTES {
                    return Err(Refusal::Attributes.says());
                }
                let slot = &mut next[then as usize];
                *slot = (*slot).max(Some(attributes));
                are_open = true;
            }
            tags = next;
        }
        if byte.is_ascii_alphabetic() && (before[1] == b'<' || before == *b"</") {
            let slot = &mut tags[TagState::Name as usize];
            *slot = (*slot).max(Some(0));
            are_open = true;
        }
        before = [before[1], byte];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_pages_are_parsed_as_without_bounds() {
        for page in [
            "",
            "a < b",
            "<p>one<p class='x y'>two<b>bold<i>both</b>one</i>",
            "<table><tr><td>1<b>x</table>y",
            "<!doctype html><title>t</title><body a=1><body b=2><svg><path d='M0'/></svg>",
            "<script>if (a <b && c > d) '<p '</script><!-- <a b c --><textarea><p></textarea>",
            "<select><option>a<option selected>b</select>",
            "\u{feff}速度 <a href='?a&amp;b'>&#x901f;</a>",
        ] {
            let expected = Html::parse_document(page);
            let found = parse(page).map(|found| found.tree);
            assert_eq!(found.as_ref(), Ok(&expected.tree), "{page}");
            let long = page.repeat(2 + PIECE_BYTES / page.len().max(1));
            let expected = Html::parse_document(&long);
            let found = parse(&long).map(|found| found.tree);
            assert!(found.as_ref() == Ok(&expected.tree), "{page}, repeated");
        }
    }

    #[test]
    fn pages_that_take_quadratic_time_are_refused_with_the_reason() {
        let distinct = |tag: &str, n: usize| -> String {
            (0..n).map(|i| format!("<{tag} a{i}={i}>")).collect()
        };
        let deep = "nested deeper than 1000";
        let long = "takes too long";
        let attributes = "more than 4096 attributes";
        let nodes = "more than 1000000 nodes";
        let wide = |n: usize| -> String { (0..n).map(|i| format!(" a{i}=1")).collect() };
        let mut others = Vec::new();
        for (name, page, reason) in [
            ("nested", "<div>".repeat(50_000), deep),
            ("formatting", "<b><i><font>".repeat(30_000), deep),
            ("distinct formatting", distinct("b", 30_000), deep),
            (
                "reopened",
                distinct("b", 900) + &"<p>x</p>".repeat(30_000),
                long,
            ),
            (
                "closed by blocks",
                (0..30_000)
                    .map(|i| format!("<div><b a{i}>x</div>"))
                    .collect(),
                long,
            ),
            (
                "foster parents",
                format!("<table>{}", "<b>x".repeat(30_000)),
                deep,
            ),
            (
                "end tags without effect",
                "<span>".repeat(900) + &"</x>".repeat(20_000),
                long,
            ),
            ("repeated bodies", distinct("body", 30_000), long),
            ("one wide tag", format!("<a{}>", wide(50_000)), attributes),
            (
                "a wide tag without end",
                format!("<a{}", wide(50_000)),
                attributes,
            ),
            (
                "a wide end tag",
                format!("</a{}>", wide(50_000)),
                attributes,
            ),
            (
                "quoted values",
                format!("<a{}>", " x='>'y=\">\"".repeat(3_000)),
                attributes,
            ),
            (
                "many wide tags",
                format!("<p{}>", wide(4_000)).repeat(300),
                long,
            ),
            (
                "many wide links",
                format!("<a{}>x</a>", wide(3_000)).repeat(300),
                long,
            ),
            (
                "elements",
                format!("<br{}>", wide(50)).repeat(20_000),
                nodes,
            ),
            ("too long", " ".repeat(MOST_BYTES + 1), "longer than 64 MiB"),
        ] {
            // A tenth of the steps, because this is compiled without optimization.
            let said = parse_within(&page, MOST_STEPS / 10).map(drop);
            if !said.as_ref().is_err_and(|said| said.contains(reason)) {
                others.push((name, said));
            }
        }
        assert_eq!(others, []);
    }

    #[test]
    fn attributes_are_counted_as_the_tokenizer_does() {
        for (tag, attributes) in [
            ("<a>", 0),
            ("<a b>", 1),
            ("<a b=c d>", 2),
            ("<a/b/c/>", 2),
            ("<a b='x' c=\"y\"d=z>", 3),
            ("<a b = 'x y' = c>", 3),
            ("<a b==' c'>", 2),
        ] {
            let tokens = parse(&format!("{tag}x")).expect("a page");
            let element = tokens.tree.values().filter_map(|node| node.as_element());
            let found = element.filter(|element| element.name() == "a");
            assert_eq!(
                found.map(|a| a.attrs().count()).max(),
                Some(attributes),
                "{tag}"
            );
            let padded = tag.replace("<a", &format!("<a{}", " q".repeat(MOST_ATTRIBUTES)));
            assert_eq!(measure(&padded).is_err(), attributes > 0, "{tag}");
        }
    }
}
