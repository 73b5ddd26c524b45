//! The tables of a store, one plan each. Pure.
//!
//! * [`graph`]: hosts, URLs, crawls and where pages stand in them
//! * [`visits`]: visits, and what was kept of them
//! * [`server`]: what a server keeps besides

mod graph;
mod server;
mod visits;

use super::plan::Plan;

/// In the order in which they are copied: what others refer to comes first.
pub(crate) fn plans() -> impl Iterator<Item = &'static Plan> {
    let all = [graph::PLANS, visits::PLANS, server::PLANS];
    all.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copy::plan::As::{Aside, Owner};

    #[test]
    fn every_column_that_is_sent_has_one_to_go_to() {
        for plan in plans() {
            let sent: usize = plan
                .becomes
                .iter()
                .map(|becomes| match becomes {
                    Aside => 0,
                    Owner(_) => 2,
                    _ => 1,
                })
                .sum();
            assert_eq!(sent, plan.columns.len(), "{}", plan.name);
            assert_eq!(plan.first.len(), plan.key, "{}", plan.name);
        }
    }
}
