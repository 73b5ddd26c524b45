//! What a server keeps besides. Pure.

use crate::copy::plan::{
    As::Same,
    Col::{Bytes, Int8, Text},
    Plan, Start,
};

pub(in crate::copy) const PLANS: &[Plan] = &[
    Plan {
        name: "jobs",
        table: "jobs",
        columns: &[
            ("id", Text),
            ("crawl", Int8),
            ("owner", Text),
            ("kind", Text),
            ("request", Text),
            ("idempotency", Text),
            ("created_at", Int8),
        ],
        select: "SELECT id, crawl, owner, kind, request, idempotency, created_at FROM jobs
                 WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 7],
    },
    Plan {
        name: "api_keys",
        table: "api_keys",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("hash", Bytes),
            ("scope", Text),
            ("per_minute", Int8),
            ("created_at", Int8),
            ("expires_at", Int8),
            ("revoked_at", Int8),
        ],
        select: "SELECT id, name, hash, scope, per_minute, created_at, expires_at, revoked_at
                 FROM api_keys WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 8],
    },
    Plan {
        name: "users",
        table: "users",
        columns: &[
            ("id", Text),
            ("name", Text),
            ("password", Text),
            ("role", Text),
            ("created_at", Int8),
            ("password_changed_at", Int8),
            ("disabled_at", Int8),
        ],
        select: "SELECT id, name, password, role, created_at, password_changed_at, disabled_at
                 FROM users WHERE id > ?1 ORDER BY id",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 7],
    },
    Plan {
        name: "sessions",
        table: "sessions",
        columns: &[
            ("hash", Bytes),
            ("user_id", Text),
            ("created_at", Int8),
            ("last_seen_at", Int8),
            ("expires_at", Int8),
        ],
        select: "SELECT hash, user, created_at, last_seen_at, expires_at FROM sessions
                 WHERE hash > ?1 ORDER BY hash",
        key: 1,
        first: &[Start::Bytes],
        becomes: &[Same; 5],
    },
    Plan {
        name: "login_failures",
        table: "login_failures",
        columns: &[("subject", Text), ("count", Int8), ("last_at", Int8)],
        select: "SELECT subject, count, last_at FROM login_failures
                 WHERE subject > ?1 ORDER BY subject",
        key: 1,
        first: &[Start::Text],
        becomes: &[Same; 3],
    },
];
