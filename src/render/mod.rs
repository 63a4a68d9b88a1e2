//! Runs the programs that turn the sources of a tree into manifests, and checks out trees for them.
//!
//! A renderer runs code of the tree that it renders. Callers need the user's consent.
//!
//! Knows nothing of YAML.

mod checkout;
mod error;
mod limited;
mod program;

pub use checkout::{Checkout, CheckoutFile};
pub use error::RenderError;
pub use program::{RenderCommand, kustomize, on_path};
