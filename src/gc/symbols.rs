//! Interned strings: names, namespaces and uids occur again and again, and are only ever compared.

use std::collections::HashMap;

/// An interned string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Symbol(u32);

impl Symbol {
    /// The empty string, always interned first.
    pub(super) const EMPTY: Symbol = Symbol(0);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All strings of a cluster, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbols {
    text: String,
    ends: Vec<u32>,
}

impl Symbols {
    /// The symbol of a text, by a walk over all of them: for the few texts that are looked up rarely.
    pub(super) fn find(&self, text: &str) -> Option<Symbol> {
        (0..self.ends.len() as u32).map(Symbol).find(|symbol| self.get(*symbol) == text)
    }

    pub(super) fn get(&self, symbol: Symbol) -> &str {
        let index = symbol.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }
}

/// Builds [`Symbols`]; the map from text to symbol lives only while a cluster is built.
#[derive(Debug)]
pub(super) struct Interner {
    symbols: Symbols,
    known: HashMap<Box<str>, Symbol>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner { symbols: Symbols::default(), known: HashMap::new() };
        interner.intern("");
        interner
    }
}

impl Interner {
    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.known.get(text) {
            return *symbol;
        }
        let symbol = Symbol(self.symbols.ends.len() as u32);
        self.symbols.text.push_str(text);
        self.symbols.ends.push(self.symbols.text.len() as u32);
        self.known.insert(text.into(), symbol);
        symbol
    }

    pub(super) fn get(&self, symbol: Symbol) -> &str {
        self.symbols.get(symbol)
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.ends.len()
    }

    pub(super) fn finish(self) -> Symbols {
        self.symbols
    }
}
