
  // --- XML as XmlSlurper gives it -------------------------------------------------------------------------------------
  // A node is {name, attributes, kids, parent, isAware}, a text among its kids a string. What a path stands for is the
  // list of its nodes, or of the values of an attribute.
  const isPath = (v) => v !== null && typeof v === "object" && inherits(v.$c, "GPathResult");
  const blankText = /^[\0-\x20]*$/;
  const nodeFrom = ([name, prefix, attributes, kids], parent, isAware) => {
    const node = { name: isAware || prefix === "" ? name : `${prefix}:${name}`, hasPrefix: prefix !== "", attributes, parent, isAware, kids: null };
    // Blanks between elements are none of a text.
    node.kids = kids.filter((kid) => typeof kid !== "string" || !blankText.test(kid)).map((kid) => (typeof kid === "string" ? kid : nodeFrom(kid, node, isAware)));
    return node;
  };
  const rootOf = (s, isAware) => {
    const told = JSON.parse(host("xml", s, "") ?? '{"fault":"this XML"}');
    if (told.fault !== undefined) unsupported(told.fault);
    return told.error === undefined ? nodeFrom(told.value, null, isAware) : fail("SAXParseException");
  };
  const parseXml = (s, isAware) => nodeChild(rootOf(s, isAware));
  const nodeChild = (node) => object("NodeChild", { nodes: [node], called: node.name, isAware: node.isAware });
  const nodeChildren = (nodes, called, isAware) => object("NodeChildren", { nodes, called, isAware });
  const noChildren = (called) => object("NoChildren", { nodes: [], called });
  const elements = (node) => node.kids.filter((kid) => typeof kid !== "string");
  const nodeText = (node) => (typeof node === "string" ? node : (node.kids ?? [node.value]).map((kid) => (typeof kid === "string" ? kid : nodeText(kid))).join(""));
  const pathText = (v) => v.nodes.map(nodeText).join("");
  const pathItems = (v) => v.nodes.map((node) => (node.kids === undefined ? object("Attribute", { nodes: [node], called: node.name }) : nodeChild(node)));
  const attributesOf = (v, name) => {
    if (!["NodeChild", "NodeChildren", "NoChildren"].includes(v.$c)) return unsupported("an attribute of this path");
    const found = v.nodes.flatMap((node) => {
      if (node.attributes.some(([, prefix]) => prefix !== "")) unsupported("an element whose attributes have prefixes");
      return node.attributes.filter(([known]) => known === name).map(([, , value]) => ({ name, value, parent: node }));
    });
    return object("Attributes", { nodes: found, called: name });
  };
  const descendants = (node) => [node, ...elements(node).flatMap(descendants)];
  const pathProperty = (v, name) => {
    if (name.startsWith("@")) return attributesOf(v, name.slice(1));
    if (name === "**") return iteratorOf(v.nodes.flatMap(descendants).map(nodeChild));
    if (v.$c === "Attributes" || v.$c === "Attribute" || name === ".." || (name.includes(":") && v.isAware)) return unsupported(`\`${name}\` of this path`);
    const kids = v.nodes.flatMap(elements);
    return nodeChildren(name === "*" ? kids : kids.filter((kid) => kid.name === name), name, v.isAware);
  };
  // What XmlParser gives: nodes, and lists of them whose properties are those of all their nodes together.
  const xmlNode = (node) => object("Node", { node });
  const nodeList = (items) => {
    const made = [...items];
    Object.defineProperty(made, "kind", { value: "NodeList" });
    return made;
  };
  const isNodeList = (v) => Array.isArray(v) && v.kind === "NodeList";
  const plainNodes = (node) => {
    const isMixed = elements(node).length > 0 && elements(node).length < node.kids.length;
    return [node, ...(isMixed ? unsupported("all below a node with texts between its elements") : elements(node)).flatMap(plainNodes)];
  };
  const attributeOf = (node, name) => {
    if (node.attributes.some(([, prefix]) => prefix !== "")) unsupported("an element whose attributes have prefixes");
    return node.attributes.find(([known]) => known === name)?.[2] ?? null;
  };
  const nodeProperty = ({ node }, name) => {
    if (name.startsWith("@")) return attributeOf(node, name.slice(1));
    if (name === "..") return unsupported("`..` of a node");
    if (name === "**") return nodeList(plainNodes(node).map(madeNode));
    return nodeList(elements(node).filter((kid) => name === "*" || kid.name === name).map(madeNode));
  };
  const madeNode = (node) => {
    if (node.hasPrefix && node.isAware) unsupported("names with prefixes in what XmlParser reads");
    return (node.wrapped ??= xmlNode(node));
  };
  const listProperty = (v, name) => {
    const found = v.flatMap((item) => (item?.$c === "Node" ? nodeProperty(item, name) : unsupported("a property of a text")));
    return name.startsWith("@") ? found : nodeList(found);
  };
  const iteratorOf = (items) => object("Iterator", { items, at: 0 });
  const rest = (v) => {
    const items = v.items.slice(v.at);
    v.at = v.items.length;
    return items;
  };
  const pathAt = (v, index) => {
    if (typeof index !== "number" || index < 0) return unsupported("[…] of a path with this index");
    return pathItems(v)[index] ?? noChildren(v.called);
  };
  function xmlMethods() {
    const LISTED = ["any", "every", "collect", "collectMany", "collectEntries", "inject", "sum", "max", "min", "groupBy", "sort", "first", "last", "toList", "findIndexOf", "join", "count"];
    const listed = Object.fromEntries(LISTED.map((name) => [name, (v, ...args) => LIST[name](pathItems(v), ...args)]));
    const numbers = ["toInteger", "toLong", "toDouble", "toBigDecimal", "toBigInteger"];
    const parsed = Object.fromEntries(numbers.map((name) => [name, (v) => methods.String[name](pathText(v))]));
    const ofItems = Object.fromEntries(["find", "findAll", "collect", "any", "every", "toList"].map((name) => [name, (v, ...args) => LIST[name](rest(v), ...args)]));
    return {
      GPathResult: {
        ...listed,
        ...parsed,
        toString: pathText,
        text: pathText,
        size: (v) => (v.$c === "NodeChild" ? 1 : v.nodes.length),
        isEmpty: (v) => v.nodes.length === 0,
        name: (v) => v.called,
        list: pathItems,
        children: (v) => pathProperty(v, "*"),
        depthFirst: (v) => pathProperty(v, "**"),
        parent: (v) => (v.$c === "NodeChild" ? (v.nodes[0].parent === null ? v : nodeChild(v.nodes[0].parent)) : unsupported("the parent of this path")),
        attributes: (v) => (v.$c === "NodeChild" ? map(v.nodes[0].attributes.map(([name, prefix, value]) => [prefix === "" ? name : unsupported("an attribute with a prefix"), value])) : noMethod(v, "attributes")),
        "@": attributesOf,
        getAt: pathAt,
        each(v, run) {
          for (const item of pathItems(v)) callClosure(run, [item]);
          return v;
        },
        eachWithIndex(v, run) {
          pathItems(v).forEach((item, i) => callClosure(run, [item, i]));
          return v;
        },
        find: (v, run) => pathItems(v).find((item) => test(run, item)) ?? noChildren(v.called),
        findAll: (v, run) => nodeChildren(pathItems(v).filter((item) => test(run, item)).flatMap((item) => item.nodes), v.called, v.isAware),
        equals: (v, other) => pathText(v) === text(other),
        hashCode: () => unsupported("the hash code of a path"),
      },
      Node: {
        name: ({ node }) => node.name,
        text: ({ node }) => nodeText(node),
        children: ({ node }) => nodeList(node.kids.map((kid) => (typeof kid === "string" ? kid : madeNode(kid)))),
        parent: ({ node }) => (node.parent === null ? null : madeNode(node.parent)),
        attributes: ({ node }) => map(node.attributes.map(([name, prefix, value]) => [prefix === "" ? name : unsupported("an attribute with a prefix"), value])),
        attribute: ({ node }, name) => attributeOf(node, name),
        depthFirst: (v) => nodeProperty(v, "**"),
        "@": ({ node }, name) => attributeOf(node, name),
        equals: (v, other) => v === other,
        hashCode: () => unsupported("the hash code of a node"),
      },
      NodeList: {
        text: (v) => v.map((item) => (typeof item === "string" ? item : nodeText(item.node))).join(""),
        "@": (v, name) => listProperty(v, `@${name}`),
      },
      XmlParser: {
        parseText: (v, s) => madeNode(rootOf(s, v.isAware)),
        parse: (v, of) => madeNode(rootOf(of.$c === "File" ? fileText(of.path) : readRest(of), v.isAware)),
      },
      XmlSlurper: {
        parseText: (v, s) => parseXml(s, v.isAware),
        parse: (v, of) => parseXml(of.$c === "File" ? fileText(of.path) : readRest(of), v.isAware),
      },
      Iterator: {
        hasNext: (v) => v.at < v.items.length,
        next: (v) => (v.at < v.items.length ? v.items[v.at++] : fail("NoSuchElementException")),
        remove(v) {
          if (v.of === undefined) return unsupported("remove of this iterator");
          if (v.at === 0) return fail("IllegalStateException");
          if (v.of instanceof JavaSet) return void removeItem(v.of, v.items[v.at - 1]);
          fixedSize(v.of).splice(v.at - 1 - v.gone, 1);
          v.gone += 1;
          return null;
        },
        ...ofItems,
        size: (v) => rest(v).length,
        each(v, run) {
          for (const item of rest(v)) callClosure(run, [item]);
          return v;
        },
      },
    };
  }
  function xmlConstructors() {
    const reader = ($c) => (validates, isAware = true) => (validates === true ? unsupported("XML that is validated") : object($c, { isAware }));
    const [slurper, parser] = [reader("XmlSlurper"), reader("XmlParser")];
    return { XmlSlurper: slurper, NewXmlSlurper: slurper, XmlParser: parser, NewXmlParser: parser };
  }
