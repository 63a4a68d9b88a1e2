//! Every outcome that some order of the moves leads to, beside the verdict that [`simulate`](crate::simulate) finds alone.
//!
//! A cluster is cut into [`parts`] that cannot influence each other. [`explore`] follows one part through the orders that matter:
//! from a state, [`moves`] says what can happen next, [`independence`] which of it commutes with everything else, and [`choice`]
//! takes the smallest set that loses no outcome. Where there are too many orders, [`sampling`] takes some. [`found`] holds the
//! possible states of a part, and [`combine`] puts the parts together again.

mod choice;
mod combine;
mod explore;
mod found;
mod independence;
mod moves;
mod parts;
mod sampling;

pub(crate) use combine::add_outcomes;
