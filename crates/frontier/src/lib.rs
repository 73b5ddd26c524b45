//! Which URL next, and when: per-host queues, strategy, politeness ledger, budgets, retries. Time is an argument.
