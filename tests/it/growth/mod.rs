//! The time and memory of a run grow with the length of its input, not with its square. Each input here once exceeded
//! the limits, which the operating system enforces (`../limits.rs`).
//!
//! The rows of section P of the review of version 0.1.0, with the tests that failed with that version:
//!
//! | P1, checked | test in `checked.rs` |
//! |---|---|
//! | n owner references of one object, different uids | `references_with_different_uids` |
//! | the same with one uid, or without uid, or to unserved kinds | `references_with_one_uid`, `references_without_a_uid`, `references_to_kinds_that_nobody_serves` |
//! | n namesakes in other namespaces × n references | `namesakes_in_other_namespaces_and_references_to_them` |
//! | CRD with n versions, n instances | `versions_of_a_definition_and_instances_of_none_of_them` |
//! | n operators × n custom resources in one namespace | `operators_and_the_objects_they_handle` |
//! | n `ignore-document` directives | `directives_on_one_document` |
//! | n directives before an unreadable document | `directives_before_an_unreadable_document` |
//! | n finalizers of one object | `finalizers_of_one_object` |
//! | n duplicates of one reference | `duplicates_of_one_reference` |
//! | dump with n namesakes of other uids | `a_dump_of_namesakes_that_name_their_owner_by_other_uids` |
//! | n directives with n keys; trailing behind `]` | `directives_on_keys`, `directives_behind_lists` |
//! | n lines `#`; one line of n `#`; n `%TAG` lines | `lines_of_nothing_but_a_comment_sign`, `a_line_of_comment_signs`, `tag_directives` |
//! | closed world, dump with n dying pairs | `a_dump_of_objects_whose_owners_are_gone_in_a_closed_world` |
//! | n documents, or n objects, each with a directive or ignore | `documents_with_a_directive_each`, `objects_with_an_annotation_each`, `objects_with_an_ignore_of_the_configuration_each` |
//!
//! | P1, printed | test in `printed.rs` |
//! |---|---|
//! | n identical findings of one object print n frames | `findings_of_one_object_that_are_all_alike` |
//! | one-line JSON list: `lsp`, `junit`, `human`, `sarif` | `a_list_in_one_line_as_…`, one for each |
//! | n namesakes × n references: output | `namesakes_and_references_to_them` |
//! | `plan -o json` on a chain | `a_long_chain_of_owners_whose_every_object_says_why` |
//! | P2: graphs of a few dozen objects with several outcomes | `a_few_dozen_objects_with_many_outcomes` |
//! | P3.5: outcomes × objects | `a_thousand_objects_with_thousands_of_outcomes` |
//!
//! | P1 and P2, planned | test in `planned.rs` |
//! |---|---|
//! | `plan delete ns`, Deployments with 100,000 replicas | `deployments_of_a_hundred_thousand_replicas` |
//! | Deployment of 100 replicas × n ephemeral volumes; through aliases | `ephemeral_volumes_of_many_replicas`, `ephemeral_volumes_through_aliases` |
//! | ring of n shared owners, delete ns | `a_ring_of_shared_owners_in_a_namespace` |
//! | namespace or definition with n held objects | `held_objects_of_a_namespace`, `held_objects_of_a_definition` |
//! | P2: `plan delete ns/x` with Deployments | `deployments_with_services_in_a_namespace` |
//! | P2: `plan delete ns/x`, mixed objects | `objects_of_all_kinds_in_a_namespace` |
//!
//! P3 is in `../hostile/mod.rs`.

mod called;
mod checked;
mod planned;
mod printed;
mod support;
