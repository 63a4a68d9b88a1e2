//! Nothing that a repository contains can crash the program, hang it, exhaust it, make it lie or make it run code. A file per
//! kind of attack:
//!
//! | attack | tests |
//! |---|---|
//! | alias bombs, depth, sizes, millions of small things | `bounds.rs`, `../yaml_limits.rs`, `../growth.rs` |
//! | links, FIFOs, devices, vanishing files, permissions | `links.rs`, `irregular.rs`, `../walking.rs` |
//! | names that are not UTF-8, or collide | `file_names.rs` |
//! | names that a terminal, a runner, a browser or a shell would obey | `names.rs`, `../formats/hostile.rs`, `../commands.rs`, `../plan_view.rs` |
//! | more findings than anybody reads | `amounts.rs` |
//! | targets that cannot be written, broken pipes, interrupts | `writing.rs` |
//! | values of Secrets | `secrets.rs` |
//! | repositories that configure programs | `configured.rs`, `../diff/rendering.rs` |
//! | any bytes at all | `../fuzz/`, `../../../fuzz/` |
//! | another order of threads | `../determinism.rs` |
//! | a crate or an action that is replaced | `../supply_chain.rs` |
//!
//! What a user sees of each is in `docs/guide/hostile-inputs.md`, which `page.rs` proves.

mod amounts;
mod bounds;
mod configured;
mod file_names;
mod irregular;
mod links;
mod names;
mod page;
mod secrets;
mod support;
mod writing;
