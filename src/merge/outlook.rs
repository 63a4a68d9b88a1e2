//! Facts about head, each computed on first use.

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
        Self {
            inventory,
            tables,
            ties: OnceLock::new(),
            delivery_objects: OnceLock::new(),
            removers: OnceLock::new(),
            serves: OnceLock::new(),
        }
    }

    /// Returns its objects.
    pub fn inventory(&self) -> &Inventory {
        self.inventory
    }

    /// Returns the ties between its objects that are not written as owner references.
    pub fn ties(&self) -> &Ties {
        self.ties
            .get_or_init(|| Ties::of(self.inventory, &self.tables))
    }

    /// Returns the objects that deliver others.
    pub fn delivery_objects(&self) -> &[DeliveryObject] {
        self.delivery_objects
            .get_or_init(|| delivery_objects(self.inventory))
    }

    /// Returns the controllers that remove finalizers.
    pub fn removers(&self) -> &Removers {
        self.removers
            .get_or_init(|| Removers::of(self.inventory, Arc::clone(&self.tables.finalizers)))
    }

    /// Returns the webhooks, APIServices and conversions that call Services.
    pub fn serves(&self) -> &Serves {
        self.serves.get_or_init(|| Serves::of(self.inventory))
    }
}
