//! Finalizers, and the operators that remove them.

mod early_hooks;
pub(in crate::rules) mod held;
pub(in crate::rules) mod lifecycle;
pub(in crate::rules) mod operator;
pub(in crate::rules) mod permission;
pub(in crate::rules) mod provider;
pub(in crate::rules) mod syntax;
pub(in crate::rules) mod template;
pub(in crate::rules) mod words;
