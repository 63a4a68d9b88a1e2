//! Every outcome that some order of moves leads to, besides the verdict that [`simulate`](crate::simulate) finds.
//!
//! A cluster is cut into [`parts`] that cannot influence each other. [`explore`] follows one part through the orders
//! that matter: from a state, [`moves`] lists what can happen next, [`independence`] decides which moves commute with
//! everything else, and [`choice`] selects a small set of moves that loses no outcome. If there are too many orders,
//! [`sampling`] runs some of them. [`found`] holds the possible states of a part, and [`combine`] puts the parts
//! together again.

mod choice;
mod combine;
mod explore;
mod found;
mod independence;
mod moves;
mod parts;
mod sampling;

pub(crate) use combine::add_outcomes;
