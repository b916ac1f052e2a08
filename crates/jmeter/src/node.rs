//! Conversion of XML to test elements with properties.
//!
//! ```text
//! <jmeterTestPlan>
//!   <hashTree>
//!     <TestPlan …properties… />   an element …
//!     <hashTree> … </hashTree>    … and the tree of its children, always in pairs
//! ```
//!
//! Versions write the same property with different tags (`stringProp` or `intProp`), so scalars are
//! kept as text and interpreted by the reader of the property.

use sokudo_model::Text;

use crate::problem::{FilePosition, Problems};
use crate::xml::{self, Element};

/// A test element and the elements below it.
#[derive(Debug, Clone)]
pub struct ElementNode {
    /// Class, in its short form where it has one: `ThreadGroup`.
    pub class: String,
    /// Class of its editor, without the package: `HttpDefaultsGui`.
    pub gui: String,
    /// Name as written, expressions included.
    pub name: String,
    /// False if the element and everything below it is disabled.
    pub enabled: bool,
    /// Place of the element.
    pub place: FilePosition,
    /// Properties in order.
    pub properties: Vec<Property>,
    /// Elements below it.
    pub children: Vec<ElementNode>,
}

/// A named value of an element.
#[derive(Debug, Clone)]
pub struct Property {
    /// Name: `ThreadGroup.num_threads`.
    pub name: String,
    /// Value.
    pub value: PropertyValue,
    /// Place of the property.
    pub place: FilePosition,
}

/// Value of a property.
#[derive(Debug, Clone)]
pub enum PropertyValue {
    /// Text, number or boolean, as written.
    Scalar {
        /// The text.
        text: String,
        /// True if it was written as text: an empty text counts as not given, a false does not.
        is_text: bool,
    },
    /// List of values.
    List(Vec<Property>),
    /// Element inside the element.
    Element(InnerElement),
    /// Value that is kept as XML.
    Object(Element),
}

impl PropertyValue {
    /// The items of a list; `None`: it is not one.
    pub fn as_list(&self) -> Option<&[Property]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The properties of an element; `None`: it is not one.
    pub fn as_element(&self) -> Option<&[Property]> {
        match self {
            Self::Element(inner) => Some(&inner.properties),
            _ => None,
        }
    }
}

/// An element inside a property: properties, but no children.
#[derive(Debug, Clone)]
pub struct InnerElement {
    /// Its name as an element; `None`: it has none.
    pub name: Option<String>,
    /// Properties in order.
    pub properties: Vec<Property>,
}

impl ElementNode {
    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        find(&self.properties, name)
    }

    /// Number of elements, including this one.
    pub fn count(&self) -> usize {
        1 + self.children.iter().map(ElementNode::count).sum::<usize>()
    }
}

/// The property of this name; the last of several, as a map would keep it.
pub fn find<'a>(properties: &'a [Property], name: &str) -> Option<&'a Property> {
    properties.iter().rev().find(|p| p.name == name)
}

/// The elements of a plan: those inside the outermost `hashTree`.
///
/// `None` if the root is not that of a test plan; that is reported as an error.
pub fn from_xml(mut root: Element, problems: &mut Problems) -> Option<Vec<ElementNode>> {
    for place in xml::fill_references(&mut root) {
        problems.error(place, Text::new("jmx-bad-reference"));
    }
    if root.tag != "jmeterTestPlan" {
        let says = Text::new("jmx-not-a-plan").word("tag", root.tag);
        problems.error(root.place, says);
        return None;
    }
    let Some(tree) = root.children.into_iter().find(|e| e.tag == "hashTree") else {
        problems.error(root.place, Text::new("jmx-no-tree"));
        return None;
    };
    let nodes = nodes(tree, problems);
    if let Some(node) = without_editor(&nodes) {
        let says = Text::new("jmx-no-editor").word("element", node.class.as_str());
        problems.warning(node.place.clone(), says);
    }
    Some(nodes)
}

/// The first element that does not name its editor: JMeter loads no plan with one, even a disabled one.
fn without_editor(nodes: &[ElementNode]) -> Option<&ElementNode> {
    nodes.iter().find_map(|node| match node.gui.is_empty() {
        true => Some(node),
        false => without_editor(&node.children),
    })
}

/// Pairs of elements and the trees below them.
fn nodes(tree: Element, problems: &mut Problems) -> Vec<ElementNode> {
    let mut found: Vec<ElementNode> = Vec::new();
    // True if the last element has no tree yet.
    let mut waiting = false;
    for element in tree.children {
        if element.tag != "hashTree" {
            if waiting {
                not_paired(&element, problems);
            }
            found.push(node(element, problems));
            waiting = true;
        } else if let (true, Some(owner)) = (waiting, found.last_mut()) {
            owner.children = nodes(element, problems);
            waiting = false;
        } else {
            not_paired(&element, problems);
        }
    }
    found
}

fn not_paired(element: &Element, problems: &mut Problems) {
    let says = Text::new("jmx-not-paired").word("tag", element.tag.as_str());
    problems.error(element.place.clone(), says);
}

fn node(element: Element, problems: &mut Problems) -> ElementNode {
    let attribute = |name| element.attribute(name).unwrap_or_default().to_owned();
    let (name, gui, test_class) = (
        attribute("testname"),
        short_class(&attribute("guiclass")).to_owned(),
        attribute("testclass"),
    );
    let class = match short_class(&element.tag) {
        // The outermost tag of very old files has its class in the attribute.
        "testelement" => short_class(&test_class),
        tag => tag,
    };
    ElementNode {
        class: class.to_owned(),
        gui,
        name,
        enabled: element.attribute("enabled") != Some("false"),
        properties: properties(element.children, problems),
        place: element.place,
        children: Vec::new(),
    }
}

/// The class without its package.
fn short_class(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn properties(elements: Vec<Element>, problems: &mut Problems) -> Vec<Property> {
    elements
        .into_iter()
        .filter_map(|element| property(element, problems))
        .collect()
}

fn property(element: Element, problems: &mut Problems) -> Option<Property> {
    let named = |tag: &str| element.child(tag).map(|e| e.text.clone());
    let mut name = element.attribute("name").unwrap_or_default().to_owned();
    let place = element.place.clone();
    let value = match element.tag.as_str() {
        "stringProp" => scalar(element.text, true),
        "boolProp" | "intProp" | "longProp" | "shortProp" => scalar(element.text, false),
        "doubleProp" | "floatProp" | "FloatProperty" => {
            name = named("name").unwrap_or(name);
            let text = named("value").unwrap_or_else(|| element.text.clone());
            scalar(text, false)
        }
        "collectionProp" | "mapProp" => PropertyValue::List(properties(element.children, problems)),
        "elementProp" => PropertyValue::Element(InnerElement {
            name: element.attribute("testname").map(str::to_owned),
            properties: properties(element.children, problems),
        }),
        "objProp" => {
            name = named("name").unwrap_or(name);
            PropertyValue::Object(element)
        }
        tag => {
            let says = Text::new("jmx-unknown-property-tag").word("tag", tag);
            problems.error(place, says);
            return None;
        }
    };
    Some(Property { name, value, place })
}

fn scalar(text: String, is_text: bool) -> PropertyValue {
    PropertyValue::Scalar { text, is_text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml;

    fn read(inside: &str) -> (Vec<ElementNode>, Vec<String>) {
        let text = format!("<jmeterTestPlan>\n<hashTree>{inside}</hashTree></jmeterTestPlan>");
        let root = xml::parse(&"t.jmx".into(), text.as_bytes()).unwrap();
        let mut problems = Problems::default();
        let nodes = from_xml(root, &mut problems).unwrap();
        let told = problems
            .into_sorted()
            .iter()
            .map(ToString::to_string)
            .collect();
        (nodes, told)
    }

    #[test]
    fn elements_and_trees_stand_in_pairs() {
        let (nodes, told) = read(
            "<A guiclass='a' testname='計画'/><hashTree><B guiclass='b' enabled='false'/><hashTree/></hashTree><C guiclass='c'/><hashTree/>",
        );
        assert_eq!(told, [""; 0]);
        assert_eq!(nodes.len(), 2);
        assert_eq!(
            (nodes[0].name.as_str(), nodes[0].children.len()),
            ("計画", 1)
        );
        assert!(!nodes[0].children[0].enabled);
    }

    #[test]
    fn the_first_element_that_jmeter_does_not_load_is_told() {
        let (_, told) = read(
            "<A guiclass='a'/><hashTree>\n<B enabled='false'/><hashTree/></hashTree><C/><hashTree/>",
        );
        assert_eq!(told, ["t.jmx:3:1: jmx-no-editor element=`B`"]);
    }

    #[test]
    fn a_missing_or_second_tree_is_an_error() {
        let (_, told) = read("<A guiclass='a'/>\n<B guiclass='b'/><hashTree/>");
        assert_eq!(told, ["t.jmx:3:1: jmx-not-paired tag=`B`"]);
        let (_, told) = read("<hashTree/>");
        assert_eq!(told, ["t.jmx:2:11: jmx-not-paired tag=`hashTree`"]);
    }

    #[test]
    fn every_way_to_write_a_number_is_read() {
        let (nodes, told) = read(
            "<org.x.T guiclass='t'><intProp name='a'>1</intProp><doubleProp><name>b</name><value>2.5</value><savedValue>0</savedValue></doubleProp>\
             <FloatProperty><name>c</name><value>3</value></FloatProperty><what/></org.x.T><hashTree/>",
        );
        assert_eq!(told, ["t.jmx:2:206: jmx-unknown-property-tag tag=`what`"]);
        assert_eq!(nodes[0].class, "T");
        let texts: Vec<_> = nodes[0]
            .properties
            .iter()
            .map(|p| match &p.value {
                PropertyValue::Scalar { text, .. } => format!("{}={text}", p.name),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["a=1", "b=2.5", "c=3"]);
    }
}
