//! All that a server needs of one store.

use super::{Store, accounts::AccountStore, jobs::JobStore, overview::Overview, upkeep::Upkeep};

/// A store that a server can run on.
pub trait ServerStore: Store + JobStore + AccountStore + Overview + Upkeep {}

impl<S: Store + JobStore + AccountStore + Overview + Upkeep> ServerStore for S {}
