//! Interned strings: names, namespaces and uids occur again and again, and are only ever compared.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
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

/// All strings of a cluster, concatenated.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbols {
    text: String,
    ends: TiVec<Symbol, u32>,
}

impl Symbols {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
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
        let before = symbol.0.checked_sub(1).map(Symbol);
        let start = before.map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[symbol] as usize]
    }
}

/// Builds [`Symbols`]; the table from text to symbol lives only while a cluster is built.
#[derive(Debug)]
pub(super) struct Interner {
    /// The strings interned so far.
    pub(super) symbols: Symbols,
    /// Symbols by the hash of their strings, which only `symbols` stores.
    known: HashTable<Symbol>,
    hasher: RandomState,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            symbols: Symbols::default(),
            known: HashTable::default(),
            hasher: RandomState::default(),
        };
        interner.intern("");
        interner.push(&Namespace::Unwritten.to_string());
        interner
    }
}

impl Interner {
    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        let hash = self.hasher.hash_one(text);
        if let Some(symbol) = self
            .known
            .find(hash, |symbol| self.symbols.get(*symbol) == text)
        {
            return *symbol;
        }
        let symbol = self.push(text);
        self.known.insert_unique(hash, symbol, |symbol| {
            self.hasher.hash_one(self.symbols.get(*symbol))
        });
        symbol
    }

    pub(super) fn intern_namespace(&mut self, namespace: &Namespace) -> Symbol {
        match namespace {
            Namespace::None => Symbol::EMPTY,
            Namespace::Unwritten => Symbol::UNWRITTEN,
            Namespace::Named(name) => self.intern(name),
        }
    }

    fn push(&mut self, text: &str) -> Symbol {
        self.symbols.text.push_str(text);
        let end = self.symbols.text.len() as u32;
        self.symbols.ends.push_and_get_key(end)
    }
}
