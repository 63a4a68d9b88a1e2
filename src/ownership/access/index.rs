//! Finds the rules that may be about an object without looking through all of them.
//!
//! A rule leaves the group, the resource or the name open, or lists them. Rules that leave the same open are kept together, by each
//! text that they list. Of the lists that could contain what is asked for the shortest is looked through.

use foldhash::HashMap;

use super::bindings::RuleSet;
use super::rule::PolicyRule;
use crate::ownership::finalizer_holder::FinalizerHolder;

/// The number of a text that a rule or a binding mentions.
pub(super) type TextId = u32;

/// What is asked of one rule: whether it allows changing an object, or a subresource of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RuleQuestion {
    /// `None`: no rule mentions it.
    group: Option<TextId>,
    resource: Option<TextId>,
    name: AskedName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AskedName {
    /// Some object.
    Any,
    Mentioned(TextId),
    Unmentioned,
}

/// What a rule lists: of group, resource and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Aspect {
    Group,
    Resource,
    Name,
}

const ASPECTS: [Aspect; 3] = [Aspect::Group, Aspect::Resource, Aspect::Name];

impl RuleQuestion {
    /// What a rule has to list, if it lists anything; `None`: nothing in particular. The other `None`: no rule lists it.
    fn asked(&self, aspect: Aspect) -> Option<Option<TextId>> {
        match (aspect, self.name) {
            (Aspect::Group, _) => Some(self.group),
            (Aspect::Resource, _) => Some(self.resource),
            (Aspect::Name, AskedName::Any) => None,
            (Aspect::Name, AskedName::Mentioned(text)) => Some(Some(text)),
            (Aspect::Name, AskedName::Unmentioned) => Some(None),
        }
    }
}

/// A rule, of which only one subresource counts.
#[derive(Debug)]
pub(super) struct IndexedRule {
    /// Its place among the sets of rules.
    pub(super) rule_set: usize,
    /// The subresource `finalizers`, and not the resource itself.
    pub(super) about_finalizers: bool,
    /// Whether it names neither a group nor a resource.
    pub(super) is_everything: bool,
    /// Texts in order; `None`: it leaves that open.
    listed: [Option<Box<[TextId]>>; 3],
}

impl IndexedRule {
    fn lists(&self, aspect: Aspect) -> Option<&[TextId]> {
        self.listed[aspect as usize].as_deref()
    }

    /// Whether it allows what is asked for.
    pub(super) fn answers(&self, question: &RuleQuestion) -> bool {
        ASPECTS.into_iter().all(|aspect| match (self.lists(aspect), question.asked(aspect)) {
            (None, _) | (Some(_), None) => true,
            (Some(listed), Some(asked)) => asked.is_some_and(|asked| listed.binary_search(&asked).is_ok()),
        })
    }

    /// What it leaves open, as bits.
    fn open(&self) -> u8 {
        ASPECTS.into_iter().filter(|aspect| self.lists(*aspect).is_none()).map(|aspect| 1 << aspect as u8).sum()
    }
}

/// The rules of all bound roles.
#[derive(Debug, Default)]
pub(super) struct RuleIndex {
    texts: HashMap<String, TextId>,
    rules: Vec<IndexedRule>,
    /// For each set of rules the place of its first one; and the end.
    firsts: Vec<usize>,
    /// Places of the rules that leave the same open.
    alike: [Vec<usize>; 8],
    /// Those of them that list a text.
    listing: HashMap<(u8, Aspect, TextId), Vec<usize>>,
}

impl RuleIndex {
    pub(super) fn of(rule_sets: &[RuleSet]) -> Self {
        let mut index = Self::default();
        for (rule_set, written) in rule_sets.iter().enumerate() {
            index.firsts.push(index.rules.len());
            for rule in written.rules.iter().filter(|rule| rule.changes()) {
                index.insert(rule_set, rule, false);
                index.insert(rule_set, rule, true);
            }
        }
        index.firsts.push(index.rules.len());
        index
    }

    fn insert(&mut self, rule_set: usize, rule: &PolicyRule, about_finalizers: bool) {
        let subresource = if about_finalizers { "finalizers" } else { "" };
        let mut resources = rule.resources_with(subresource).peekable();
        if rule.groups().is_empty() || resources.peek().is_none() {
            return;
        }
        let groups = self.open_or_listed(rule.groups().iter().map(String::as_str));
        let resources = self.open_or_listed(resources);
        let names = rule.object_names();
        let names = (!names.is_empty()).then(|| self.texts(names.iter().map(String::as_str)));
        let listed = [groups, resources, names];
        let rule = IndexedRule { rule_set, about_finalizers, is_everything: rule.is_everything(), listed };
        let (at, open) = (self.rules.len(), rule.open());
        self.alike[usize::from(open)].push(at);
        for aspect in ASPECTS {
            for text in rule.lists(aspect).into_iter().flatten() {
                self.listing.entry((open, aspect, *text)).or_default().push(at);
            }
        }
        self.rules.push(rule);
    }

    fn open_or_listed<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Option<Box<[TextId]>> {
        let texts: Vec<&str> = texts.collect();
        (!texts.contains(&"*")).then(|| self.texts(texts.into_iter()))
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Box<[TextId]> {
        let mut listed: Vec<TextId> = texts.map(|text| self.mentioned(text)).collect();
        listed.sort_unstable();
        listed.dedup();
        listed.into_boxed_slice()
    }

    /// The number of a text, from now on.
    pub(super) fn mentioned(&mut self, text: &str) -> TextId {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let next = TextId::try_from(self.texts.len()).expect("fewer texts than bytes of the input");
        self.texts.insert(text.to_owned(), next);
        next
    }

    /// The number of a text that a rule or a binding mentions.
    pub(super) fn text(&self, text: &str) -> Option<TextId> {
        self.texts.get(text).copied()
    }

    /// What is asked of the rules about `holder`, by one name of its kind.
    pub(super) fn question(&self, holder: &FinalizerHolder<'_>, resource: &str) -> RuleQuestion {
        let name = holder
            .name
            .map_or(AskedName::Any, |name| self.text(name).map_or(AskedName::Unmentioned, AskedName::Mentioned));
        RuleQuestion { group: self.text(holder.group), resource: self.text(resource), name }
    }

    /// The rules of a set.
    pub(super) fn rules_of(&self, rule_set: usize) -> &[IndexedRule] {
        &self.rules[self.firsts[rule_set]..self.firsts[rule_set + 1]]
    }

    /// Lists with all rules that answer, and more.
    pub(super) fn candidates(&self, question: &RuleQuestion) -> Candidates<'_> {
        let lists = (0_u8..8).map(|open| {
            let asked = ASPECTS.into_iter().filter(|aspect| open & 1 << *aspect as u8 == 0);
            let listing = asked.filter_map(|aspect| {
                let list = question.asked(aspect)?.and_then(|text| self.listing.get(&(open, aspect, text)));
                Some(list.map_or(&[][..], Vec::as_slice))
            });
            listing.min_by_key(|list| list.len()).unwrap_or(&self.alike[usize::from(open)])
        });
        Candidates { rules: &self.rules, lists: lists.filter(|list| !list.is_empty()).collect() }
    }
}

/// Rules that may answer a question.
pub(super) struct Candidates<'i> {
    rules: &'i [IndexedRule],
    lists: Vec<&'i [usize]>,
}

impl<'i> Candidates<'i> {
    pub(super) fn len(&self) -> usize {
        self.lists.iter().map(|list| list.len()).sum()
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = &'i IndexedRule> {
        self.lists.iter().flat_map(|list| *list).map(|at| &self.rules[*at])
    }
}
