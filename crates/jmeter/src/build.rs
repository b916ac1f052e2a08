//! Construction of the plan from the tree of elements.
//!
//! ```text
//! plan level ─┐ its elements act in every group, after the group's own
//! group ──────┤
//! controller ─┤ a stack of levels; the elements in scope of a sampler are found
//! sampler ────┘ from the inside out, then sorted in JMeter's order
//! ```

use std::collections::BTreeMap;

use sokudo_model::Text;

use crate::compile::{Compiler, ElementReader, next_id, script_reads_inner, script_reads_previous};
use crate::expression::World;
use crate::node::ElementNode;
use crate::plan::{
    AssertionKind, ConfigKind, Controller, ControllerKind, Group, HttpHeader, HttpRequest, Id,
    IterationStep, ListenerKind, Load, Named, Plan, PostKind, PreKind, Sampler, SamplerKind, Scope,
    Script, Step, TimerKind, Variable, merge_headers,
};
use crate::registry::{self, DefaultsOf, ElementSpec, Role};

/// Names that every element may have and that mean nothing while it is executed.
const GENERAL: &[&str] = &["TestPlan.comments", "TestElement.", "scriptLanguage"];

/// The elements directly below one element that act on samplers.
#[derive(Clone, Default)]
struct ScopeLevel<'n> {
    defaults: Vec<(DefaultsOf, &'n ElementNode)>,
    headers: Vec<Id>,
    managers: Vec<Id>,
    per_iteration: Vec<IterationStep>,
    scope: Scope,
}

/// Builds the plan of a tree without unknown elements. `None`: the tree has no test plan.
pub(crate) fn build(
    nodes: &[ElementNode],
    written_by: &str,
    compiler: &mut Compiler<'_>,
) -> Option<Plan> {
    let mut plans = nodes
        .iter()
        .filter(|node| is(node, |role| matches!(role, Role::Plan)));
    let root = plans.next()?;
    let variables = variables(root, compiler);
    let mut reader = ElementReader::new(root, compiler);
    let flags = registry::plan_flags(&mut reader);
    let plan = Plan {
        name: root.name.clone(),
        written_by: written_by.to_owned(),
        serialize_groups: flags.serialize_groups,
        teardown_on_shutdown: flags.teardown_on_shutdown,
        functional_mode: flags.functional_mode,
        variables,
        groups: Vec::new(),
        samplers: Vec::new(),
        timers: Vec::new(),
        configs: Vec::new(),
        pre_processors: Vec::new(),
        post_processors: Vec::new(),
        assertions: Vec::new(),
        listeners: Vec::new(),
        header_managers: Vec::new(),
        reads_previous: false,
        reads_inner: false,
        reads_last_text: false,
        reads_index: false,
        started_ms: compiler.settings.now_ms,
    };
    let mut builder = Builder { plan, compiler };
    builder.groups(root);
    let Builder { mut plan, compiler } = builder;
    plan.reads_last_text = compiler.uses.functions.contains_key("__regexFunction");
    let mut variables = compiler.uses.variables.keys();
    plan.reads_previous = compiler.uses.previous || reads_previous(&plan);
    // On the result of a transaction, the one before is that of the last sampler.
    plan.reads_previous |= compiler.uses.transactions && judges_read_previous(&plan);
    plan.reads_inner = compiler.uses.inner || reads_inner(&plan);
    plan.reads_index = variables.any(|name| name.starts_with("__jm__"));
    Some(plan)
}

/// True if an element before or in a sample reads the previous result.
fn reads_previous(plan: &Plan) -> bool {
    let mut pres = plan.pre_processors.iter();
    if pres.any(|pre| matches!(pre.kind, PreKind::UrlRewriting(_) | PreKind::FollowLink)) {
        return true;
    }
    scripts_before(plan).any(|script| script_reads_previous(&script.text.to_string()))
}

/// True if the script of an assertion or of a listener reads the previous result.
fn judges_read_previous(plan: &Plan) -> bool {
    script_judges(plan).any(|script| script_reads_previous(&script.text.to_string()))
}

/// The scripts of assertions and listeners.
fn script_judges(plan: &Plan) -> impl Iterator<Item = &Script> {
    let of_assertions = plan.assertions.iter();
    let of_assertions = of_assertions.filter_map(|assertion| match &assertion.kind {
        AssertionKind::Script(script) => Some(script),
        _ => None,
    });
    let of_listeners = plan.listeners.iter();
    of_assertions.chain(of_listeners.filter_map(|listener| match &listener.kind {
        ListenerKind::Script(script) => Some(script),
        _ => None,
    }))
}

/// True if a script of an element reads sub-results.
fn reads_inner(plan: &Plan) -> bool {
    let of_posts = plan
        .post_processors
        .iter()
        .filter_map(|post| match &post.kind {
            PostKind::Script(script) => Some(script),
            _ => None,
        });
    let mut scripts = scripts_before(plan)
        .chain(of_posts)
        .chain(script_judges(plan));
    scripts.any(|script| script_reads_inner(&script.text.to_string()))
}

/// The scripts of elements before and in samples.
fn scripts_before(plan: &Plan) -> impl Iterator<Item = &Script> {
    let of_pre = plan
        .pre_processors
        .iter()
        .filter_map(|pre| match &pre.kind {
            PreKind::Script(script) => Some(script),
            PreKind::UserParameters { .. }
            | PreKind::Timeout { .. }
            | PreKind::FollowLink
            | PreKind::RegexParameters { .. }
            | PreKind::Database(_)
            | PreKind::UrlRewriting(_) => None,
        });
    let of_timers = plan.timers.iter().filter_map(|timer| match &timer.kind {
        TimerKind::Script(script) => Some(script),
        _ => None,
    });
    let of_samplers = plan
        .samplers
        .iter()
        .filter_map(|sampler| match &sampler.kind {
            SamplerKind::Script(script) => Some(script),
            _ => None,
        });
    of_pre.chain(of_timers).chain(of_samplers)
}

fn is(node: &ElementNode, wanted: fn(&Role) -> bool) -> bool {
    registry::find(node).is_some_and(|spec| wanted(&spec.role))
}

/// User defined variables: the plan's own, then those of all elements in document order. Each
/// element sees the values of those before it.
fn variables(root: &ElementNode, compiler: &mut Compiler<'_>) -> Vec<Variable> {
    let mut found = Vec::new();
    let mut reader = ElementReader::new(root, compiler);
    let own = reader.inner("TestPlan.user_defined_variables", variables_of);
    define(own, &mut found, compiler);
    let mut open: Vec<&ElementNode> = root.children.iter().rev().collect();
    while let Some(node) = open.pop() {
        if is(node, |role| matches!(role, Role::Variables)) {
            let set = variables_of(&mut ElementReader::new(node, compiler));
            define(set, &mut found, compiler);
        }
        open.extend(node.children.iter().rev());
    }
    found
}

/// Names and values of one element, none of which sees another.
fn variables_of(reader: &mut ElementReader<'_, '_>) -> Vec<Variable> {
    /// Most variables of one element.
    const MOST: usize = 10_000;
    let place = reader.place.clone();
    let mut pairs = registry::pairs(reader, "Arguments.arguments", "Argument");
    if pairs.len() > MOST {
        let says = Text::new("jmx-too-many").word("most", MOST.to_string());
        reader.compiler.problems.error(place.clone(), says);
        pairs.truncate(MOST);
    }
    let references = references(&pairs);
    let circular = on_circles(&references);
    let mut set = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let told = |key: &str| Text::new(key).word("variable", pair.name.to_string());
        let problems = &mut reader.compiler.problems;
        if circular[index] {
            // JMeter sends the reference as it is written.
            problems.warning(place.clone(), told("jmx-variable-circle"));
        } else if !references[index].is_empty() {
            problems.warning(place.clone(), told("jmx-variable-too-early"));
        }
        set.push(Variable {
            name: reader.compiler.value_at_start(&pair.name, &place),
            value: reader.compiler.value_at_start(&pair.value, &place),
        });
    }
    set
}

/// For each pair, the pairs that its value refers to.
fn references(pairs: &[HttpHeader]) -> Vec<Vec<usize>> {
    let named = pairs.iter().enumerate();
    let numbers: BTreeMap<String, usize> = named.map(|(i, p)| (p.name.to_string(), i)).collect();
    let of = |pair: &HttpHeader| {
        let mut names = Vec::new();
        pair.value.variables(&mut names);
        names
            .iter()
            .filter_map(|name| numbers.get(*name).copied())
            .collect()
    };
    pairs.iter().map(of).collect()
}

/// The entries that are on a cycle of references, or on a path between two cycles.
fn on_circles(references: &[Vec<usize>]) -> Vec<bool> {
    let mut left = vec![true; references.len()];
    loop {
        let mut referred = vec![false; references.len()];
        for (_, to) in references
            .iter()
            .enumerate()
            .filter(|(from, _)| left[*from])
        {
            to.iter().for_each(|to| referred[*to] = true);
        }
        let leads_on = |from: usize, left: &[bool]| references[from].iter().any(|to| left[*to]);
        let now: Vec<bool> = (0..left.len())
            .map(|i| left[i] && referred[i] && leads_on(i, &left))
            .collect();
        if now == left {
            return left;
        }
        left = now;
    }
}

fn define(set: Vec<Variable>, found: &mut Vec<Variable>, compiler: &mut Compiler<'_>) {
    for variable in set {
        compiler.world.set_variable(&variable.name, &variable.value);
        compiler.uses.set.insert(variable.name.clone(), ());
        found.push(variable);
    }
}

/// A sampler without the elements below it; `None`: the element is not one.
fn bare_sampler(node: &ElementNode) -> Option<ElementNode> {
    is(node, |role| matches!(role, Role::Http | Role::Sampler(_))).then(|| ElementNode {
        class: node.class.clone(),
        gui: node.gui.clone(),
        name: node.name.clone(),
        enabled: true,
        place: node.place.clone(),
        properties: node.properties.clone(),
        children: Vec::new(),
    })
}

struct Builder<'c, 'a> {
    plan: Plan,
    compiler: &'c mut Compiler<'a>,
}

impl Builder<'_, '_> {
    fn groups(&mut self, root: &ElementNode) {
        let of_plan = self.level(root);
        // JMeter puts samplers of the plan behind those of each group, without what is below them.
        let of_all: Vec<ElementNode> = root.children.iter().filter_map(bare_sampler).collect();
        for node in &root.children {
            let Some(spec) = registry::find(node) else {
                continue;
            };
            match spec.role {
                Role::Group(stage, read) => {
                    let (load, (on_error, same_user)) = self.read(node, spec, &[], |reader| {
                        (read(reader), registry::group_common(reader))
                    });
                    // Their users are new in each iteration, whatever the plan says.
                    let is_of_plugin = matches!(
                        load,
                        Load::Ramps { .. } | Load::Stepped { .. } | Load::Concurrency { .. }
                    );
                    let mut level = self.level(node);
                    level.add(&of_plan);
                    let mut stack = vec![level];
                    let mut body = self.steps(&node.children, &mut stack);
                    body.extend(self.steps(&of_all, &mut stack));
                    let per_iteration = stack.swap_remove(0).per_iteration;
                    self.plan.groups.push(Group {
                        name: self.compiler.at_start(&node.name, &node.place),
                        place: node.place.clone(),
                        stage,
                        load,
                        on_error,
                        same_user: same_user && !is_of_plugin,
                        per_iteration,
                        body,
                    });
                }
                Role::Controller(_) | Role::Include | Role::Module => {
                    let says = Text::new("jmx-outside-groups").word("name", node.name.as_str());
                    self.compiler.problems.warning(node.place.clone(), says);
                }
                _ => {}
            }
        }
    }

    /// The steps below an element, whose level is the last of the stack.
    fn steps<'n>(
        &mut self,
        nodes: &'n [ElementNode],
        stack: &mut Vec<ScopeLevel<'n>>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in nodes {
            let Some(spec) = registry::find(node) else {
                continue;
            };
            match spec.role {
                Role::Controller(read) => {
                    let kind = self.read(node, spec, &[], read);
                    steps.push(Step::Controller(self.controller(node, kind, stack)));
                }
                Role::Include | Role::Module | Role::Fragment => {
                    let kind = ControllerKind::Simple;
                    steps.push(Step::Controller(self.controller(node, kind, stack)));
                }
                Role::Http | Role::Sampler(_) => {
                    stack.push(self.level(node));
                    let sampler = self.sampler(node, spec, stack);
                    let own = stack.pop().unwrap_or_default();
                    // Elements that act once per iteration belong to the innermost controller.
                    if let Some(level) = stack.last_mut() {
                        level.per_iteration.extend(own.per_iteration);
                    }
                    steps.push(Step::Sampler(next_id(&self.plan.samplers)));
                    self.plan.samplers.push(sampler);
                }
                Role::Group(..) => {
                    let says = Text::new("jmx-group-inside").word("name", node.name.as_str());
                    self.compiler.problems.error(node.place.clone(), says);
                }
                _ => {}
            }
        }
        steps
    }

    fn controller<'n>(
        &mut self,
        node: &'n ElementNode,
        mut kind: ControllerKind,
        stack: &mut Vec<ScopeLevel<'n>>,
    ) -> Controller {
        stack.push(self.level(node));
        let body = self.steps(&node.children, stack);
        if let ControllerKind::Transaction {
            assertions,
            listeners,
            handlers,
            ..
        } = &mut kind
        {
            self.compiler.uses.transactions = true;
            let around = scope(stack);
            // On a transaction those of the innermost level come first.
            let inner = inside_out(stack, |level| &level.scope.assertions);
            (*assertions, *listeners) = (inner.copied().collect(), around.listeners);
            let posts = &self.plan.post_processors;
            let acts = |id: &Id| matches!(posts[*id as usize].kind, PostKind::OnError(_));
            *handlers = around.post_processors.into_iter().filter(acts).collect();
        }
        let level = stack.pop().unwrap_or_default();
        Controller {
            name: self.compiler.template(&node.name, &node.place),
            place: node.place.clone(),
            kind,
            per_iteration: level.per_iteration,
            body,
        }
    }

    fn sampler(
        &mut self,
        node: &ElementNode,
        spec: &ElementSpec,
        stack: &[ScopeLevel<'_>],
    ) -> Sampler {
        let defaults: Vec<&ElementNode> = inside_out(stack, |level| &level.defaults)
            .filter(|(of, _)| spec.takes(*of))
            .map(|(_, node)| *node)
            .collect();
        let kind = match spec.role {
            Role::Sampler(read) => self.read(node, spec, &defaults, read),
            _ => {
                let mut request = self.read(node, spec, &defaults, registry::request);
                self.merge_managers(&mut request, node, stack);
                SamplerKind::Http(Box::new(request))
            }
        };
        for node in &node.children {
            if is(node, |role| {
                matches!(role, Role::Http | Role::Sampler(_) | Role::Controller(_))
            }) {
                let says = Text::new("jmx-below-sampler").word("name", node.name.as_str());
                self.compiler.problems.warning(node.place.clone(), says);
            }
        }
        // A request without a name has that of its defaults, which is a property like the others.
        let mut names = std::iter::once(node)
            .chain(defaults)
            .map(|node| node.name.as_str());
        let name = names.find(|name| !name.is_empty());
        Sampler {
            name: self
                .compiler
                .template(name.unwrap_or_default(), &node.place),
            place: node.place.clone(),
            kind,
            scope: scope(stack),
        }
    }

    /// Headers: the innermost manager wins for each name. Other managers: the outermost wins, as
    /// JMeter passes them on from the inside out and keeps the last; more than one gives a warning.
    fn merge_managers(
        &mut self,
        request: &mut HttpRequest,
        node: &ElementNode,
        stack: &[ScopeLevel<'_>],
    ) {
        for manager in inside_out(stack, |level| &level.headers) {
            let is_innermost = request.header_managers.is_empty();
            request.header_managers.push(*manager);
            let headers = self.plan.header_managers[*manager as usize].as_slice();
            let manager = (is_innermost, headers);
            merge_headers(&mut request.headers, manager, |header| header);
        }
        for id in inside_out(stack, |level| &level.managers) {
            let manager = &self.plan.configs[*id as usize];
            let slot = match &manager.kind {
                ConfigKind::Cookies { .. } => &mut request.cookies,
                ConfigKind::Cache { .. } => &mut request.cache,
                ConfigKind::Authorization { .. } => &mut request.authorization,
                ConfigKind::Dns { .. } => &mut request.dns,
                _ => continue,
            };
            if slot.replace(*id).is_some() {
                let says = Text::new("jmx-two-managers")
                    .word("name", node.name.as_str())
                    .word("manager", manager.name.to_string());
                self.compiler.problems.warning(node.place.clone(), says);
            }
        }
    }

    /// Builds the elements directly below an element that act on samplers.
    fn level<'n>(&mut self, parent: &'n ElementNode) -> ScopeLevel<'n> {
        let mut level = ScopeLevel::default();
        for node in &parent.children {
            let Some(spec) = registry::find(node) else {
                continue;
            };
            match spec.role {
                Role::Defaults(of) => {
                    self.defaults(node, spec, of);
                    level.defaults.push((of, node));
                }
                Role::Headers => {
                    let headers = self.read(node, spec, &[], registry::header_manager);
                    level.headers.push(next_id(&self.plan.header_managers));
                    self.plan.header_managers.push(headers);
                }
                Role::Config(read) => {
                    let kind = self.read(node, spec, &[], read);
                    let id = next_id(&self.plan.configs);
                    match kind {
                        ConfigKind::CsvData(_)
                        | ConfigKind::Counter { .. }
                        | ConfigKind::RandomVariable { .. } => {
                            level.per_iteration.push(IterationStep::Config(id));
                        }
                        _ => level.managers.push(id),
                    }
                    let named = self.named(node, kind);
                    self.plan.configs.push(named);
                }
                Role::Timer(read) => {
                    let kind = self.read(node, spec, &[], read);
                    level.scope.timers.push(next_id(&self.plan.timers));
                    let named = self.named(node, kind);
                    self.plan.timers.push(named);
                }
                Role::Pre(read) => {
                    let kind = self.read(node, spec, &[], read);
                    let id = next_id(&self.plan.pre_processors);
                    match kind {
                        PreKind::UserParameters {
                            per_iteration: true,
                            ..
                        } => {
                            level.per_iteration.push(IterationStep::PreProcessor(id));
                        }
                        _ => level.scope.pre_processors.push(id),
                    }
                    let named = self.named(node, kind);
                    self.plan.pre_processors.push(named);
                }
                Role::Post(read) => {
                    let kind = self.read(node, spec, &[], read);
                    level
                        .scope
                        .post_processors
                        .push(next_id(&self.plan.post_processors));
                    let named = self.named(node, kind);
                    self.plan.post_processors.push(named);
                }
                Role::Assertion(read) => {
                    let kind = self.read(node, spec, &[], read);
                    level.scope.assertions.push(next_id(&self.plan.assertions));
                    let named = self.named(node, kind);
                    self.plan.assertions.push(named);
                }
                Role::Listener(read) => {
                    let kind = self.read(node, spec, &[], read);
                    level.scope.listeners.push(next_id(&self.plan.listeners));
                    let named = self.named(node, kind);
                    self.plan.listeners.push(named);
                }
                _ => {}
            }
        }
        level
    }

    /// Reports the properties of defaults that no request reads. Those named by the user are read by
    /// some requests and left by others.
    fn defaults(&mut self, node: &ElementNode, spec: &ElementSpec, of: DefaultsOf) {
        match of {
            DefaultsOf::Http => drop(self.read(node, spec, &[], registry::request)),
            DefaultsOf::Java => drop(self.read(node, spec, &[], registry::java)),
            DefaultsOf::Tcp => drop(self.read(node, spec, &[], registry::tcp)),
            DefaultsOf::Any => {}
        }
    }

    fn named<K>(&mut self, node: &ElementNode, kind: K) -> Named<K> {
        Named {
            name: self.compiler.template(&node.name, &node.place),
            place: node.place.clone(),
            kind,
        }
    }

    /// Reads an element and reports its properties that were not read.
    fn read<T>(
        &mut self,
        node: &ElementNode,
        spec: &ElementSpec,
        defaults: &[&ElementNode],
        read: impl FnOnce(&mut ElementReader<'_, '_>) -> T,
    ) -> T {
        self.compiler.names_read.clear();
        self.compiler.names_ignored.clear();
        let mut reader = ElementReader::with_defaults(node, defaults, self.compiler);
        let made = read(&mut reader);
        for property in &node.properties {
            let name = property.name.as_str();
            let general = GENERAL.iter().any(|general| name.starts_with(general));
            let read = self.compiler.names_read.iter().map(|(name, _)| name);
            let known = read
                .chain(&self.compiler.names_ignored)
                .any(|known| known == name);
            if !general && !known && !name.is_empty() {
                let says = Text::new("jmx-unread-property")
                    .word("element", spec.name())
                    .word("property", name);
                self.compiler.problems.warning(property.place.clone(), says);
            }
        }
        made
    }
}

impl<'n> ScopeLevel<'n> {
    /// Adds the elements of another level: those of the plan to those of a group.
    fn add(&mut self, other: &ScopeLevel<'n>) {
        self.defaults.extend(&other.defaults);
        self.headers.extend(&other.headers);
        self.managers.extend(&other.managers);
        self.per_iteration.extend(&other.per_iteration);
        self.scope.timers.extend(&other.scope.timers);
        self.scope
            .pre_processors
            .extend(&other.scope.pre_processors);
        self.scope
            .post_processors
            .extend(&other.scope.post_processors);
        self.scope.assertions.extend(&other.scope.assertions);
        self.scope.listeners.extend(&other.scope.listeners);
    }
}

/// One kind of element of all levels, the innermost first.
fn inside_out<'s, 'n, T>(
    stack: &'s [ScopeLevel<'n>],
    of: fn(&'s ScopeLevel<'n>) -> &'s Vec<T>,
) -> impl Iterator<Item = &'s T> {
    stack.iter().rev().flat_map(of)
}

/// The elements that act on a sampler: timers and listeners from the inside out, the others from
/// the outside in, each level in its own order.
fn scope(stack: &[ScopeLevel<'_>]) -> Scope {
    let inner = |of: fn(&Scope) -> &Vec<Id>| -> Vec<Id> {
        stack
            .iter()
            .rev()
            .flat_map(|level| of(&level.scope))
            .copied()
            .collect()
    };
    let outer = |of: fn(&Scope) -> &Vec<Id>| -> Vec<Id> {
        stack
            .iter()
            .flat_map(|level| of(&level.scope))
            .copied()
            .collect()
    };
    Scope {
        pre_processors: outer(|scope| &scope.pre_processors),
        timers: inner(|scope| &scope.timers),
        post_processors: outer(|scope| &scope.post_processors),
        assertions: outer(|scope| &scope.assertions),
        listeners: inner(|scope| &scope.listeners),
    }
}
