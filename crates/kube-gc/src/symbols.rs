//! Interned strings: names, namespaces and uids repeat, and are only ever compared.

use std::cmp::Ordering;

use foldhash::HashMap;
use smol_str::SmolStr;
use typed_index_collections::TiVec;

use crate::names::Namespace;

/// An interned string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Symbol(u32);

impl From<usize> for Symbol {
    /// Truncates an index of more than 32 bits: the number of strings is not checked when a cluster is built.
    fn from(index: usize) -> Self {
        Self(index as u32)
    }
}

impl From<Symbol> for usize {
    fn from(symbol: Symbol) -> Self {
        symbol.0 as usize
    }
}

impl Symbol {
    /// The empty string, always interned first; as a namespace, that of a cluster-scoped object.
    pub(super) const EMPTY: Symbol = Symbol(0);

    /// The namespace of an object whose manifest leaves it out. No string is ever interned as this symbol, so it is
    /// never mistaken for a namespace named `?`.
    pub(super) const UNWRITTEN: Symbol = Symbol(1);
}

/// All strings of a cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbols(TiVec<Symbol, SmolStr>);

impl Symbols {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn namespace(&self, symbol: Symbol) -> Namespace {
        match symbol {
            Symbol::EMPTY => Namespace::None,
            Symbol::UNWRITTEN => Namespace::Unwritten,
            _ => Namespace::Named(self.get(symbol).into()),
        }
    }

    /// Compares the namespace of a symbol with another one, without building a `Namespace`.
    pub(super) fn compare_namespace(&self, symbol: Symbol, other: &Namespace) -> Ordering {
        let other_rank = match other {
            Namespace::None => 0,
            Namespace::Unwritten => 1,
            Namespace::Named(_) => 2,
        };
        (symbol.0.min(2), self.get(symbol))
            .cmp(&(other_rank, other.name().unwrap_or_else(|| self.get(symbol))))
    }

    pub(super) fn get(&self, symbol: Symbol) -> &str {
        &self.0[symbol]
    }
}

/// Builds [`Symbols`]; the map from text to symbol lives only while a cluster is built.
#[derive(Debug)]
pub(super) struct Interner {
    /// The strings interned so far.
    pub(super) symbols: Symbols,
    known: HashMap<SmolStr, Symbol>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            symbols: Symbols::default(),
            known: HashMap::default(),
        };
        interner.intern("");
        let unwritten = Namespace::Unwritten.to_string();
        interner.symbols.0.push(unwritten.into());
        interner
    }
}

impl Interner {
    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.known.get(text) {
            return *symbol;
        }
        let text = SmolStr::from(text);
        let symbol = self.symbols.0.push_and_get_key(text.clone());
        self.known.insert(text, symbol);
        symbol
    }

    pub(super) fn intern_namespace(&mut self, namespace: &Namespace) -> Symbol {
        match namespace {
            Namespace::None => Symbol::EMPTY,
            Namespace::Unwritten => Symbol::UNWRITTEN,
            Namespace::Named(name) => self.intern(name),
        }
    }
}
