//! The suite every back end must pass. Each case takes an empty store and says one thing about
//! the contract; [`conformance_suite!`](crate::conformance_suite) makes tests of them.
//!
//! * [`web`]: a small web to be settled, page by page
//! * [`log`](mod@log): crawls, the result log, counters
//! * [`frontier`]: what is pending, refused, retried, admitted
//! * [`depth`]: shortest distances, whatever the order of arrival
//! * [`known`]: links to pages that the store has recognised
//! * [`recrawl`]: a second crawl of the same pages
//! * [`content`]: copies, near-duplicates and content made of pages
//! * [`queue`]: the queue of a crawl, looked at and changed
//! * [`overview`]: questions across crawls, and cleaning up
//! * [`upkeep`]: what grows old, what is stored, and figures counted anew
//! * [`unused`]: what nothing refers to any more
//! * [`duties`]: what servers do by themselves, one of them at a time
//! * [`accounts`]: keys, users, sessions and bad logins
//! * [`hostile`]: strings from strangers

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod accounts;
pub mod content;
pub mod depth;
pub mod duties;
pub mod frontier;
pub mod hostile;
pub mod known;
pub mod log;
pub mod overview;
pub mod queue;
pub mod recrawl;
pub mod unused;
pub mod upkeep;
pub mod web;

/// One test for each case. `$open` is an expression that gives a fresh store and something that
/// keeps it alive: `(store, guard)`.
#[macro_export]
macro_rules! conformance_suite {
    ($open:expr) => {
        $crate::conformance_suite! { @cases $open;
            log::results_are_numbered_without_gaps,
            log::a_page_settled_twice_has_one_result,
            log::counters_follow_what_happened,
            log::a_crawl_lives_from_running_to_completed,
            log::commits_from_many_tasks_all_land,
            log::a_closed_store_says_so,
            frontier::seeds_are_pending_at_depth_zero,
            frontier::pending_urls_come_by_rank_then_by_age,
            frontier::depth_first_takes_the_links_of_the_newest_page,
            frontier::a_retry_stays_pending_with_its_time,
            frontier::a_late_refusal_takes_a_page_out,
            frontier::only_new_urls_are_asked_of_the_admission,
            frontier::a_nofollow_refusal_is_lifted_by_another_link,
            frontier::other_refusals_stand,
            frontier::what_politeness_must_remember_is_kept,
            frontier::a_redirect_chain_is_kept,
            depth::a_shorter_path_is_carried_on,
            depth::redirects_do_not_lead_further_away,
            depth::a_shorter_path_admits_what_was_too_deep,
            depth::the_standing_of_a_page_tells_the_shortest_path,
            known::links_to_recognised_pages_are_recorded_as_others_are,
            known::a_page_that_came_nearer_brings_its_recognised_links_nearer,
            known::what_is_cleared_is_found_again_by_those_who_knew_it,
            recrawl::earlier_validators_are_offered,
            recrawl::a_body_that_was_cut_or_not_read_is_asked_for_anew,
            recrawl::what_another_crawl_did_not_read_is_asked_for_anew,
            recrawl::not_modified_inherits_what_the_earlier_visit_saw,
            recrawl::edges_know_their_first_and_last_crawl,
            recrawl::a_crawl_has_the_links_that_it_saw,
            recrawl::an_unchanged_page_has_the_links_of_its_last_usable_visit,
            recrawl::stale_edges_of_an_earlier_crawl_do_not_shorten_paths,
            recrawl::suspension_and_budgets_belong_to_one_crawl,
            recrawl::bodies_are_read_back,
            content::copies_name_the_first_page_with_their_content,
            content::where_text_is_known_it_decides_what_a_copy_is,
            content::fingerprints_come_back_in_order,
            content::content_is_read_back,
            content::an_unchanged_page_has_the_content_of_its_earlier_visit,
            content::a_page_without_what_is_kept_is_asked_for_anew,
            content::a_refusal_for_near_duplicates_is_lifted_by_another_link,
            content::seeds_may_come_later_and_their_sitemaps_lead_no_further,
            queue::urls_are_listed_by_state_and_by_pages_of_a_list,
            queue::what_failed_is_tried_again_and_the_log_keeps_both,
            queue::waits_and_suspensions_end_when_somebody_says_so,
            queue::what_is_cleared_can_be_found_again,
            queue::a_url_that_somebody_names_is_no_longer_too_deep,
            overview::visits_are_listed_newest_first_and_by_what_they_are,
            overview::visits_of_a_host_are_listed_one_page_after_the_other,
            overview::hosts_and_totals_add_crawls_up,
            overview::activity_comes_in_buckets_of_time,
            overview::what_is_purged_leaves_every_cursor_valid,
            upkeep::nothing_of_a_crawl_under_way_grows_old,
            upkeep::old_bodies_go_and_what_is_known_of_their_visits_stays,
            upkeep::a_body_that_a_later_visit_refers_to_stays_for_it,
            upkeep::failures_and_what_was_never_visited_go_by_themselves,
            upkeep::figures_of_minutes_become_those_of_hours_and_days,
            upkeep::what_is_stored_adds_up,
            upkeep::a_revised_visit_is_the_newest_of_its_page,
            upkeep::what_must_be_archived_first_stays_until_it_is,
            unused::addresses_go_with_the_last_that_refers_to_them,
            unused::links_that_several_crawls_saw_go_with_the_last_visit,
            duties::one_at_a_time_is_at_a_duty,
            duties::a_duty_whose_holder_died_is_taken_up_after_a_while,
            duties::how_a_duty_ended_is_kept,
            hostile::strings_come_back_as_they_went_in,
            hostile::nothing_is_found_where_nothing_is,
        }
    };
    (@cases $open:expr; $($module:ident :: $case:ident,)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (store, _guard) = $open;
                $crate::conformance::$module::$case(&store).await;
            }
        )*
    };
}

/// The same for accounts. `$open` gives a store, what writes its accounts, and something that keeps both
/// alive: `(store, writer, guard)`.
#[macro_export]
macro_rules! accounts_suite {
    ($open:expr) => {
        $crate::accounts_suite! { @cases $open;
            a_key_is_known_until_it_is_revoked,
            a_session_lives_as_long_as_its_user_and_password,
            what_is_over_is_removed_and_what_is_not_stays,
            a_login_counts_as_bad_until_it_turns_out_to_be_good,
            logins_at_the_same_moment_count_as_many,
        }
    };
    (@cases $open:expr; $($case:ident,)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (store, writer, _guard) = $open;
                $crate::conformance::accounts::$case(&store, &writer).await;
            }
        )*
    };
}
