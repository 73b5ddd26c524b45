//! All that a server needs of one store.

use super::{Store, accounts::AccountStore, jobs::JobStore, overview::Overview};

/// A store that a server can run on.
pub trait ServerStore: Store + JobStore + AccountStore + Overview {}

impl<S: Store + JobStore + AccountStore + Overview> ServerStore for S {}
