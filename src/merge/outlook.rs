//! Facts about head: each is computed on first use, and once.

use std::sync::{Arc, OnceLock};

use crate::inventory::Inventory;
use crate::knowledge::Tables;
use crate::ownership::{DeliveryObject, Removers, Serves, Ties, delivery_objects};

/// Facts about the objects that are applied after the merge.
#[derive(Debug)]
pub struct Outlook<'a> {
    inventory: &'a Inventory,
    tables: Arc<Tables>,
    ties: OnceLock<Ties>,
    delivery_objects: OnceLock<Vec<DeliveryObject>>,
    removers: OnceLock<Removers>,
    serves: OnceLock<Serves>,
}

impl<'a> Outlook<'a> {
    pub(super) fn of(inventory: &'a Inventory, tables: Arc<Tables>) -> Self {
        let (ties, delivery_objects) = (OnceLock::new(), OnceLock::new());
        let (removers, serves) = (OnceLock::new(), OnceLock::new());
        Self {
            inventory,
            tables,
            ties,
            delivery_objects,
            removers,
            serves,
        }
    }

    /// The ties between its objects that no manifest writes as owner references.
    pub fn ties(&self) -> &Ties {
        self.ties
            .get_or_init(|| Ties::of(self.inventory, &self.tables))
    }

    /// The objects that deliver others.
    pub fn delivery_objects(&self) -> &[DeliveryObject] {
        self.delivery_objects
            .get_or_init(|| delivery_objects(self.inventory))
    }

    /// Who removes which finalizer.
    pub fn removers(&self) -> &Removers {
        self.removers
            .get_or_init(|| Removers::of(self.inventory, Arc::clone(&self.tables.finalizers)))
    }

    /// The uses of Services.
    pub fn serves(&self) -> &Serves {
        self.serves.get_or_init(|| Serves::of(self.inventory))
    }
}
