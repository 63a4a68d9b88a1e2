//! No content of a repository can crash the program, hang it, exhaust its resources, falsify its
//! results or make it run code. There is a file for each kind of attack:
//!
//! | attack | tests |
//! |---|---|
//! | alias bombs, depth, sizes, millions of small things | `bounds.rs`, `../yaml/limits.rs`, `../growth/` |
//! | links, FIFOs, devices, vanishing files, permissions | `links.rs`, `irregular.rs`, `../reading/walking.rs` |
//! | names that are not UTF-8, or collide | `file_names.rs` |
//! | names that a terminal, a runner, a browser or a shell would interpret | `names.rs`, `../formats/hostile.rs`, `../rules/commands.rs`, `../plan/view.rs` |
//! | large inputs, many findings | `amounts.rs` |
//! | targets that cannot be written, broken pipes, interrupts | `writing.rs` |
//! | values of Secrets | `secrets.rs` |
//! | repositories that configure programs | `configured.rs`, `../diff/rendering.rs` |
//! | any bytes at all | `../fuzz/`, `../../../fuzz/` |
//! | another order of threads | `../cli/determinism.rs` |
//! | a crate or an action that is replaced | `../project/supply_chain.rs` |
//!
//! Defects found by the review of version 0.1.0 (its items P3), with the tests that failed with that version:
//!
//! | review | tests |
//! |---|---|
//! | P3.1 links leave the tree: to `/` or `/proc` | `links::symlink_to_folder_outside_repository_is_noted_not_followed` |
//! | P3.1 25 folders with two links each | `links::folder_with_many_symlinks_is_visited_once` |
//! | P3.1 a glob `/**/*.yaml` in the configuration | `links::discovered_configuration_cannot_name_paths_outside_the_repository` |
//! | P3.2 a link to `.git/config` or to a file outside is printed | `links::symlink_into_git_folder_is_not_read_even_if_named`, `links::symlink_to_file_outside_repository_is_not_read` |
//! | P3.2 a baseline linked to another file is printed | `links::symlinked_configuration_baseline_and_steps_are_not_read` |
//! | P3.3 manifests that are links to devices or FIFOs | `irregular::fifos_and_devices_are_reported_and_not_read` |
//! | P3.3 configuration, baseline, steps likewise | `irregular::configuration_baseline_and_steps_must_be_regular_files` |
//! | P3.3 regular files only, with a limit | `irregular::named_device_is_read_up_to_the_size_limit`, `bounds::file_larger_than_256_mib_is_unreadable` |
//! | P3.4 a backslash in a name; two names that are not UTF-8 | `file_names::backslash_is_part_of_a_file_name`, `file_names::non_utf8_file_names_are_distinct_and_shown_as_bytes` |
//! | P3.5 a million duplicate keys | `bounds::hundreds_of_thousands_of_duplicate_keys` |
//! | P3.5 a name of 10 MB | `bounds::name_of_three_megabytes_is_not_printed`, `bounds::object_larger_than_3_mib_is_unreadable` |
//! | P3.5 outcomes × objects | `../growth/printed.rs`: `thousand_objects_with_thousands_of_outcomes` |
//! | P3.6 depth 200 in a glob argument, in a path of a bundle | `file_names::deeply_nested_glob_patterns_do_not_panic` |
//! | P3.6 no thread can be started; 100,000 threads | `amounts::thread_count_is_limited_and_failed_thread_start_is_survived` |
//! | P3.7 workflow commands outside of the action | `names::check_and_list_output_starts_no_workflow_commands`, `names::plan_escapes_hostile_names_in_every_format` |
//! | P3.8 standard error: keys, rules, bundles, baselines | `names::errors_escape_hostile_text_they_quote` |
//! | P3.8 standard error: "the input holds …" | `names::missing_plan_target_error_escapes_hostile_names` |
//! | P3.8 `list`; JUnit and JSON | `names::check_and_list_output_starts_no_workflow_commands`, `names::check_escapes_hostile_names_in_every_format` |
//! | P3.8 `github`: `file=` | `names::hostile_file_name_is_escaped_in_every_format` |
//! | P3.9 a full disk | `writing::full_disk_keeps_the_old_file` |
//! | P3.9 an interrupt | `writing::run_killed_while_writing_keeps_the_old_file` |
//! | P3.10 `check -o json \| head -1` | `writing::closed_pipe_does_not_change_exit_status` |
//! | P3.10 a byte order mark before a baseline | `writing::byte_order_mark_is_accepted_in_every_input_file` |
//!
//! `docs/guide/hostile-inputs.md` describes them for users, and `page.rs` tests that page.

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
