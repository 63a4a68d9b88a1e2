//! What is known of head: each fact is found out when somebody first asks, and once.

use std::sync::{Arc, OnceLock};

use crate::inventory::Inventory;
use crate::ownership::{Removers, Serves, Tables, Ties};

/// What is known of what is applied after the merge.
#[derive(Debug)]
pub struct Outlook<'a> {
    inventory: &'a Inventory,
    tables: Arc<Tables>,
    ties: OnceLock<Ties>,
    removers: OnceLock<Removers>,
    serves: OnceLock<Serves>,
}

impl<'a> Outlook<'a> {
    pub(super) fn of(inventory: &'a Inventory, tables: Arc<Tables>) -> Self {
        let (ties, removers, serves) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { inventory, tables, ties, removers, serves }
    }

    /// The ties between its objects that no manifest writes as owner references.
    pub fn ties(&self) -> &Ties {
        self.ties.get_or_init(|| Ties::of(self.inventory, &self.tables))
    }

    /// Who removes which finalizer.
    pub fn removers(&self) -> &Removers {
        self.removers.get_or_init(|| Removers::of(self.inventory, Arc::clone(&self.tables.finalizers)))
    }

    /// What Services answer for.
    pub fn serves(&self) -> &Serves {
        self.serves.get_or_init(|| Serves::of(self.inventory))
    }
}
