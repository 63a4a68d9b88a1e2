//! The time and memory of a run grow with the length of its input, not with its square. Each input here once exceeded
//! the limits, which the operating system enforces (`../limits.rs`).
//!
//! The rows of section P of the review of version 0.1.0, with the tests that failed with that version:
//!
//! | P1, checked | test in `checked.rs` |
//! |---|---|
//! | n owner references of one object, different uids | `references_with_different_uids` |
//! | with one uid, without uid, or to unserved kinds | `references_with_one_uid`, `references_without_a_uid`, `references_to_unserved_kinds` |
//! | n namesakes in other namespaces × n references | `namesakes_in_other_namespaces_and_references_to_them` |
//! | CRD with n versions, n instances | `definition_versions_and_instances_of_an_unserved_version` |
//! | n operators × n custom resources in one namespace | `operators_and_objects_they_may_release` |
//! | n `ignore-document` directives | `directives_on_one_document` |
//! | n directives before an unreadable document | `directives_before_an_unreadable_document` |
//! | n finalizers of one object | `finalizers_of_one_object` |
//! | n duplicates of one reference | `duplicates_of_one_reference` |
//! | dump with n namesakes of other uids | `dump_of_namesakes_with_mismatched_owner_uids` |
//! | n directives with n keys; trailing behind `]` | `directives_on_keys`, `directives_trailing_lists` |
//! | n lines `#`; one line of n `#`; n `%TAG` lines | `empty_comment_lines`, `long_line_of_comment_characters`, `tag_directives` |
//! | closed world, dump with n dying pairs | `dump_of_objects_with_missing_owners_in_closed_world` |
//! | n documents, or n objects, each with a directive or ignore | `documents_with_one_directive_each`, `objects_with_one_ignore_annotation_each`, `objects_with_one_configured_ignore_each` |
//!
//! | P1, printed | test in `printed.rs` |
//! |---|---|
//! | n identical findings of one object print n frames | `equal_findings_of_one_object` |
//! | one-line JSON list: `lsp`, `junit`, `human`, `sarif` | `one_line_list_as_…`, one for each |
//! | n namesakes × n references: output | `namesakes_and_references_to_them` |
//! | `plan -o json` on a chain | `long_owner_chain_in_json_plan` |
//! | P2: graphs of a few dozen objects with several outcomes | `few_dozen_objects_with_thousands_of_outcomes` |
//! | P3.5: outcomes × objects | `thousand_objects_with_thousands_of_outcomes` |
//!
//! | P1 and P2, planned | test in `planned.rs` |
//! |---|---|
//! | `plan delete ns`, Deployments with 100,000 replicas | `deployments_of_a_hundred_thousand_replicas` |
//! | Deployment of 100 replicas × n ephemeral volumes; through aliases | `ephemeral_volumes_of_many_replicas`, `ephemeral_volumes_through_aliases` |
//! | ring of n shared owners, delete ns | `ring_of_shared_owners_in_a_namespace` |
//! | namespace or definition with n held objects | `objects_with_finalizers_in_a_namespace`, `objects_with_finalizers_of_a_definition` |
//! | P2: `plan delete ns/x` with Deployments | `deployments_with_services_in_a_namespace` |
//! | P2: `plan delete ns/x`, mixed objects | `objects_of_all_kinds_in_a_namespace` |
//!
//! P3 is in `../hostile/mod.rs`.

mod built;
mod called;
mod checked;
mod compared;
mod planned;
mod printed;
mod support;
