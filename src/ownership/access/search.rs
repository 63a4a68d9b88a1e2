//! Which grant is the first, in some order, that allows changing an object.
//!
//! An input may have thousands of bindings, roles and objects. What was found out for one object holds for all that no rule and no
//! binding tells apart from it, so each answer is kept by what they do tell apart.

use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;

use super::bindings::{Bindings, Grant};
use super::index::{Candidates, IndexedRule, RuleIndex, RuleQuestion, TextId};
use crate::kube::{Namespace, Scope};
use crate::ownership::finalizer_holder::FinalizerHolder;

/// Bindings that count for the same objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GrantPlace {
    Everywhere,
    Within(TextId),
    /// In a namespace that the input does not say.
    Open,
    /// In some namespace, whichever.
    AnyNamespace,
}

/// The grants of an input, with what finds one of them.
#[derive(Debug, Default)]
pub(super) struct GrantSearch {
    pub(super) bindings: Bindings,
    rules: RuleIndex,
    /// The grants of a selection that count somewhere, in order.
    at: HashMap<(usize, GrantPlace), Vec<usize>>,
    /// The selections of which grants count somewhere.
    selections_at: HashMap<GrantPlace, Vec<usize>>,
    /// How many rules each selection has.
    sizes: Vec<usize>,
    /// Whether a selection allows something; and whether rules about everything count.
    allowing: FoundAnswers<(usize, RuleQuestion, bool), bool>,
    /// By which sets of rules a role allows something, or the same of its `finalizers`.
    ways: FoundAnswers<(usize, RuleQuestion, bool), Arc<[usize]>>,
}

/// An order of grants.
#[derive(Debug, Default)]
pub struct GrantOrder {
    /// For each grant its rank; `None`: it does not count.
    ranks: Vec<Option<usize>>,
    /// Whether rules that name neither a group nor a resource count.
    everything_counts: bool,
    by_selection: FoundAnswers<(usize, GrantPlace), Option<usize>>,
    found: FoundAnswers<(GrantPlace, RuleQuestion), Option<usize>>,
}

impl GrantOrder {
    pub(super) fn new(ranks: Vec<Option<usize>>, everything_counts: bool) -> Self {
        Self { ranks, everything_counts, ..Self::default() }
    }

    fn counts(&self, rule: &IndexedRule) -> bool {
        self.everything_counts || !rule.is_everything
    }
}

impl GrantSearch {
    pub(super) fn new(bindings: Bindings) -> Self {
        let mut rules = RuleIndex::of(&bindings.rule_sets);
        let (mut at, mut selections_at) = (HashMap::default(), HashMap::<_, Vec<usize>>::default());
        for (number, selection) in bindings.selections.iter().enumerate() {
            for grant in &selection.grants {
                for place in places_of_grant(&bindings.grants[*grant], &mut rules) {
                    let grants: &mut Vec<usize> = at.entry((number, place)).or_default();
                    if grants.is_empty() {
                        selections_at.entry(place).or_default().push(number);
                    }
                    grants.push(*grant);
                }
            }
        }
        let size = |rule_sets: &[usize]| rule_sets.iter().map(|set| rules.rules_of(*set).len()).sum();
        let sizes = bindings.selections.iter().map(|selection| size(&selection.rule_sets)).collect();
        Self {
            bindings,
            rules,
            at,
            selections_at,
            sizes,
            allowing: FoundAnswers::default(),
            ways: FoundAnswers::default(),
        }
    }

    /// The least rank of a grant that allows changing `holder`, whose kind is one of `resources`.
    pub(super) fn first(
        &self,
        order: &GrantOrder,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
    ) -> Option<usize> {
        let questions = resources.iter().map(|resource| self.rules.question(holder, resource));
        let found = questions.flat_map(|question| {
            let places = self.places_of_holder(holder);
            places
                .filter_map(move |place| order.found.get((place, question), || self.first_at(order, place, &question)))
        });
        found.min()
    }

    fn first_at(&self, order: &GrantOrder, place: GrantPlace, question: &RuleQuestion) -> Option<usize> {
        let selections = self.selections_at.get(&place)?;
        let candidates = self.rules.candidates(question);
        let best = |selection: usize| {
            order.by_selection.get((selection, place), || {
                self.at.get(&(selection, place))?.iter().filter_map(|grant| order.ranks[*grant]).min()
            })
        };
        if selections.len() <= candidates.len() {
            let allowing = selections.iter().copied().filter(|at| self.allows(*at, question, order, &candidates));
            return allowing.filter_map(best).min();
        }
        let rules = candidates.rules().filter(|rule| order.counts(rule) && rule.answers(question));
        rules.flat_map(|rule| &self.bindings.rule_sets[rule.rule_set].selections).copied().filter_map(best).min()
    }

    fn allows(
        &self,
        selection: usize,
        question: &RuleQuestion,
        order: &GrantOrder,
        candidates: &Candidates<'_>,
    ) -> bool {
        let answers = |rule: &IndexedRule| order.counts(rule) && rule.answers(question);
        self.allowing.get((selection, *question, order.everything_counts), || {
            if candidates.len() < self.sizes[selection] {
                let within = |rule: &IndexedRule| {
                    self.bindings.rule_sets[rule.rule_set].selections.binary_search(&selection).is_ok()
                };
                return candidates.rules().any(|rule| within(rule) && answers(rule));
            }
            self.rules_of(selection).any(answers)
        })
    }

    fn rules_of(&self, selection: usize) -> impl Iterator<Item = &IndexedRule> {
        self.bindings.selections[selection].rule_sets.iter().flat_map(|set| self.rules.rules_of(*set))
    }

    /// The sets of rules by which a role allows changing `holder`, or its `finalizers`: so many of them for
    /// each name of its kind.
    pub(super) fn ways(
        &self,
        grant: &Grant,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
        finalizers: bool,
        at_most: usize,
    ) -> Vec<usize> {
        let questions = resources.iter().map(|resource| self.rules.question(holder, resource));
        let mut ways = Vec::new();
        for question in questions {
            ways.extend(self.ways_of(grant.role, question, finalizers).iter().copied().take(at_most));
        }
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    fn ways_of(&self, role: usize, question: RuleQuestion, finalizers: bool) -> Arc<[usize]> {
        self.ways.get((role, question, finalizers), || {
            let selections = &self.bindings.roles[role].selections;
            let candidates = self.rules.candidates(&question);
            let answers = |rule: &&IndexedRule| rule.about_finalizers == finalizers && rule.answers(&question);
            if candidates.len() < selections.iter().map(|at| self.sizes[*at]).sum() {
                let within = |rule: &&IndexedRule| {
                    let having = &self.bindings.rule_sets[rule.rule_set].selections;
                    selections.iter().any(|selection| having.binary_search(selection).is_ok())
                };
                return candidates.rules().filter(answers).filter(within).map(|rule| rule.rule_set).collect();
            }
            let rules = selections.iter().flat_map(|selection| self.rules_of(*selection));
            rules.filter(answers).map(|rule| rule.rule_set).collect()
        })
    }

    fn places_of_holder(&self, holder: &FinalizerHolder<'_>) -> impl Iterator<Item = GrantPlace> + use<> {
        let namespaced = holder.scope != Some(Scope::Cluster);
        let places = match holder.namespace {
            Namespace::Named(name) => [Some(GrantPlace::Open), self.rules.text(name).map(GrantPlace::Within)],
            Namespace::None | Namespace::Unwritten => [Some(GrantPlace::AnyNamespace), None],
        };
        std::iter::once(GrantPlace::Everywhere).chain(places.into_iter().flatten().filter(move |_| namespaced))
    }
}

fn places_of_grant(grant: &Grant, rules: &mut RuleIndex) -> impl Iterator<Item = GrantPlace> + use<> {
    let places = match &grant.within {
        None => [Some(GrantPlace::Everywhere), None],
        Some(Namespace::Named(name)) => {
            [Some(GrantPlace::Within(rules.mentioned(name))), Some(GrantPlace::AnyNamespace)]
        }
        Some(Namespace::None | Namespace::Unwritten) => [Some(GrantPlace::Open), Some(GrantPlace::AnyNamespace)],
    };
    places.into_iter().flatten()
}

/// Answers that were found before. Two threads may find the same one at once.
#[derive(Debug)]
struct FoundAnswers<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for FoundAnswers<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V: Clone> FoundAnswers<K, V> {
    fn get(&self, question: K, find: impl FnOnce() -> V) -> V {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&question) {
            return known.clone();
        }
        let answer = find();
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(question, answer.clone());
        answer
    }
}
