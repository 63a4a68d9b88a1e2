//! Runs the programs that turn the sources of a tree into manifests, and checks out trees for them.
//!
//! A renderer runs code of the tree that it renders. Whoever calls this has been told to.
//!
//! Knows nothing of YAML.

mod checkout;
mod error;
mod limited;
mod program;

pub use checkout::{Checkout, CheckoutFile};
pub use error::RenderError;
pub use program::{RenderCommand, kustomize, on_path};
