//! No content of a repository can crash the program, hang it, exhaust it, make it report false results or make it run
//! code. There is a file for each kind of attack:
//!
//! | attack | tests |
//! |---|---|
//! | alias bombs, depth, sizes, millions of small things | `bounds.rs`, `../yaml_limits.rs`, `../growth/` |
//! | links, FIFOs, devices, vanishing files, permissions | `links.rs`, `irregular.rs`, `../walking.rs` |
//! | names that are not UTF-8, or collide | `file_names.rs` |
//! | names that a terminal, a runner, a browser or a shell would obey | `names.rs`, `../formats/hostile.rs`, `../commands.rs`, `../plan_view.rs` |
//! | more findings than a person reads | `amounts.rs` |
//! | targets that cannot be written, broken pipes, interrupts | `writing.rs` |
//! | values of Secrets | `secrets.rs` |
//! | repositories that configure programs | `configured.rs`, `../diff/rendering.rs` |
//! | any bytes at all | `../fuzz/`, `../../../fuzz/` |
//! | another order of threads | `../determinism.rs` |
//! | a crate or an action that is replaced | `../supply_chain.rs` |
//!
//! Defects found by the review of version 0.1.0 (its items P3), with the tests that failed with that version:
//!
//! | review | tests |
//! |---|---|
//! | P3.1 links leave the tree: to `/` or `/proc` | `links::a_folder_outside_the_repository_is_not_searched_and_a_note_says_so` |
//! | P3.1 25 folders with two links each | `links::a_folder_is_visited_once_however_many_links_lead_to_it` |
//! | P3.1 a glob `/**/*.yaml` in the configuration | `links::a_configuration_that_was_found_names_nothing_outside_its_repository` |
//! | P3.2 a link to `.git/config` or to a file outside is printed | `links::a_link_to_the_files_of_git_is_not_read_even_if_it_is_named`, `links::a_link_to_a_file_outside_the_repository_is_not_read` |
//! | P3.2 a baseline linked to another file is printed | `links::files_that_are_written_for_ownerlint_are_not_shown_from_outside` |
//! | P3.3 manifests that are links to devices or FIFOs | `irregular::manifests_that_are_fifos_devices_or_links_to_them_are_named_and_left` |
//! | P3.3 configuration, baseline, steps likewise | `irregular::configurations_baselines_and_steps_are_regular_files` |
//! | P3.3 regular files only, with a limit | `irregular::a_device_that_is_named_ends_at_the_limit`, `bounds::a_file_of_a_gigabyte_is_not_even_opened` |
//! | P3.4 a backslash in a name; two names that are not UTF-8 | `file_names::a_backslash_is_a_part_of_a_name`, `file_names::names_that_are_not_utf8_are_two_files_and_shown_by_their_bytes` |
//! | P3.5 a million duplicate keys | `bounds::hundreds_of_thousands_of_duplicate_keys` |
//! | P3.5 a name of 10 MB | `bounds::a_name_of_three_megabytes`, `bounds::an_object_of_ten_megabytes_is_refused_whatever_is_in_it` |
//! | P3.5 outcomes × objects | `../growth/printed.rs`: `a_thousand_objects_with_thousands_of_outcomes` |
//! | P3.6 depth 200 in a glob argument, in a path of a bundle | `file_names::arguments_and_patterns_of_any_shape_are_answered` |
//! | P3.6 no thread can be started; 100,000 threads | `amounts::so_many_threads_as_nobody_has_are_a_mistake_and_too_few_are_enough` |
//! | P3.7 workflow commands outside of the action | `names::no_line_of_a_step_starts_a_command`, `names::no_format_of_a_plan_says_anything_that_is_obeyed` |
//! | P3.8 standard error: keys, rules, bundles, baselines | `names::mistakes_are_shown_without_what_they_say` |
//! | P3.8 standard error: "the input holds …" | `names::a_target_that_is_not_found_is_named_without_what_it_says` |
//! | P3.8 `list`; JUnit and JSON | `names::no_line_of_a_step_starts_a_command`, `names::no_format_of_check_says_anything_that_is_obeyed` |
//! | P3.8 `github`: `file=` | `names::a_file_name_is_not_obeyed_in_any_format` |
//! | P3.9 a full disk | `writing::a_full_disk_leaves_the_old_file_and_nothing_else` |
//! | P3.9 an interrupt | `writing::a_run_that_is_ended_while_it_writes_leaves_the_old_file` |
//! | P3.10 `check -o json \| head -1` | `writing::a_reader_who_stops_reading_does_not_change_how_the_run_ends` |
//! | P3.10 a byte order mark before a baseline | `writing::a_byte_order_mark_is_accepted_wherever_people_write` |
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
