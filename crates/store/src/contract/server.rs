//! All that a server needs of one store.

use super::{
    Store, accounts::AccountStore, duties::Duties, jobs::JobStore, overview::Overview,
    upkeep::Upkeep,
};

/// A store that a server can run on.
pub trait ServerStore: Store + JobStore + AccountStore + Overview + Upkeep + Duties {}

impl<S: Store + JobStore + AccountStore + Overview + Upkeep + Duties> ServerStore for S {}
