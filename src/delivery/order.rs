//! The order in which a tool goes through kinds: `rules/tables/delivery-orders.csv`.
//!
//! Tools compare the kind alone, never the API group: a custom resource of a kind `Service` is deleted with the
//! Services.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

const ROWS: &str = include_str!(concat!(env!("OUT_DIR"), "/rules/delivery-orders.json"));

/// An order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    /// The order in which Helm 3 creates objects and stores them in the release.
    #[serde(rename = "helm-3-install")]
    Helm3Install,
    /// The order in which Helm 3 deletes a release.
    #[serde(rename = "helm-3-uninstall")]
    Helm3Uninstall,
    /// The order in which Helm 4 creates objects and stores them in the release.
    #[serde(rename = "helm-4-install")]
    Helm4Install,
    /// The order in which Helm 4 deletes a release.
    #[serde(rename = "helm-4-uninstall")]
    Helm4Uninstall,
    /// The order in which Flux's kustomize-controller deletes.
    FluxDelete,
}

impl Sequence {
    /// Every order, in the order of this type.
    pub const ALL: [Self; 5] = [
        Self::Helm3Install,
        Self::Helm3Uninstall,
        Self::Helm4Install,
        Self::Helm4Uninstall,
        Self::FluxDelete,
    ];
}

/// Placeholder for every kind that the order does not list.
const OTHERS: &str = "*";

/// The table does not have the form that its README describes.
#[derive(Debug, thiserror::Error)]
pub enum OrderTableError {
    /// A row has the wrong columns.
    #[error("delivery orders: {0}")]
    Rows(#[from] serde_json::Error),
    /// An order without a place for kinds that it does not list, or with a kind twice.
    #[error("delivery orders: {0:?} does not list `*` and every kind exactly once")]
    Order(Sequence),
    /// An order that no row has.
    #[error("delivery orders: no {0:?}")]
    Missing(Sequence),
}

/// The order of one tool for one purpose.
#[derive(Clone, Debug)]
pub struct KindOrder {
    places: BTreeMap<String, usize>,
    others: usize,
}

#[derive(Deserialize)]
struct OrderRow {
    order: Sequence,
    /// Separated by `;`.
    kinds: String,
}

impl KindOrder {
    /// Returns the place of a kind; kinds that the order does not list share one.
    pub fn place(&self, kind: &str) -> usize {
        self.places.get(kind).copied().unwrap_or(self.others)
    }

    /// Whether the order lists the kind.
    pub fn lists(&self, kind: &str) -> bool {
        self.places.contains_key(kind)
    }

    fn of(row: OrderRow) -> Result<(Sequence, Self), OrderTableError> {
        let OrderRow { order, kinds } = row;
        let kinds: Vec<&str> = kinds.split(';').collect();
        let others = kinds.iter().position(|kind| *kind == OTHERS);
        let listed = kinds
            .iter()
            .enumerate()
            .filter(|(_, kind)| **kind != OTHERS);
        let places: BTreeMap<String, usize> = listed
            .map(|(place, kind)| ((*kind).to_owned(), place))
            .collect();
        match others {
            Some(others) if places.len() + 1 == kinds.len() => Ok((order, Self { places, others })),
            _ => Err(OrderTableError::Order(order)),
        }
    }

    /// Reads the table.
    ///
    /// # Errors
    /// Returns an error for the first row that is wrong, or for a missing order.
    pub fn parse(rows: &str) -> Result<BTreeMap<Sequence, Self>, OrderTableError> {
        let rows: Vec<OrderRow> = serde_json::from_str(rows)?;
        let table: BTreeMap<Sequence, Self> = rows
            .into_iter()
            .map(Self::of)
            .collect::<Result<_, OrderTableError>>()?;
        let mut all = Sequence::ALL.into_iter();
        match all.find(|sequence| !table.contains_key(sequence)) {
            Some(missing) => Err(OrderTableError::Missing(missing)),
            None => Ok(table),
        }
    }
}

/// Returns an order of the table that is compiled in.
pub fn kind_order(sequence: Sequence) -> &'static KindOrder {
    // A test parses the compiled-in table and finds every order.
    static TABLE: LazyLock<BTreeMap<Sequence, KindOrder>> = LazyLock::new(|| {
        KindOrder::parse(ROWS).unwrap_or_else(|error| unreachable!("rules/tables: {error}"))
    });
    &TABLE[&sequence]
}
