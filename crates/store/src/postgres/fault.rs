//! What can go wrong below the contract, what may be tried again, and what it is called there.

use tokio_postgres::error::{DbError, SqlState};

use crate::contract::StoreError;

#[derive(Debug)]
pub(super) enum Fault {
    Driver(tokio_postgres::Error),
    /// No connection could be had in time.
    Unreachable(String),
    /// Somebody was quicker; doing it again shows what they did.
    Overtaken,
    Store(StoreError),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// Worth trying again: connections that broke, a server that stops or starts or is full of
    /// connections, transactions that stood in each other's way, statements that took too long.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Overtaken => true,
            Self::Store(_) => false,
            Self::Driver(error) => match error.as_db_error() {
                Some(answer) => code_is_transient(answer.code()),
                None => is_of_the_connection(error),
            },
        }
    }

    /// No answer of the database to what was asked: it cannot be reached, or lets nobody in.
    pub(super) fn is_absence(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Overtaken | Self::Store(_) => false,
            Self::Driver(error) => match error.as_db_error() {
                Some(answer) => code_is_of_a_closed_door(answer.code()),
                None => is_of_the_connection(error),
            },
        }
    }

    /// What everybody may know: neither where the database is nor what it says.
    pub(super) fn in_brief(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "no answer in time",
            Self::Driver(error) if error.as_db_error().is_some() => "it lets nobody in",
            _ => "no connection",
        }
    }

    /// Somebody else has what was waited for.
    pub(super) fn is_a_lock(&self) -> bool {
        matches!(self, Self::Driver(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// The contract's error, naming the database.
    pub(super) fn at(self, place: &str) -> StoreError {
        if let Self::Store(error) = self {
            return error;
        }
        let transient = self.is_transient();
        let full =
            matches!(&self, Self::Driver(error) if error.code() == Some(&SqlState::DISK_FULL));
        let why = format!("{place}: {self}");
        match (full, transient) {
            (true, _) => StoreError::Full { path: place.into() },
            (false, true) => StoreError::Unavailable(why),
            (false, false) => StoreError::Database(why),
        }
    }

    /// The same for whoever begins: a login that is refused is refused.
    pub(super) fn at_first(self, place: &str) -> StoreError {
        let refused =
            matches!(&self, Self::Driver(error) if error.code().is_some_and(code_is_of_a_login));
        if refused {
            return StoreError::Database(format!(
                "{place} refuses the login, user and password in the address must be those of the \
                 database: {self}"
            ));
        }
        self.at(place)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(why) => f.write_str(why),
            Self::Overtaken => f.write_str("others were quicker"),
            Self::Store(error) => error.fmt(f),
            Self::Driver(error) => match error.as_db_error() {
                Some(answer) => said(answer, f),
                None => chain(error, f),
            },
        }
    }
}

/// Without the detail: it may quote what strangers wrote.
fn said(answer: &DbError, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    write!(f, "{} ({})", answer.message(), answer.code().code())
}

fn chain(error: &dyn std::error::Error, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said.push_str(": ");
        said.push_str(&error.to_string());
        cause = error.source();
    }
    f.write_str(&said)?;
    // In the words of the address, which is where something can be done about it.
    if said.contains("UnknownIssuer") {
        f.write_str(" (name a file with the authority to trust: sslrootcert=…)")?;
    } else if said.contains("not valid for name") {
        f.write_str(" (name the server as its certificate does, or say sslmode=verify-ca)")?;
    }
    Ok(())
}

/// 08 connection exceptions, 28 logins that are refused, 53300 too many connections, 57P shutdowns and
/// starts.
fn code_is_of_a_closed_door(code: &SqlState) -> bool {
    let class = code.code();
    class.starts_with("08")
        || code_is_of_a_login(code)
        || class == "53300"
        || class.starts_with("57P0")
}

/// Whoever got in before waits: a password that was changed on one side will be on the other, and what was
/// fetched meanwhile is not lost. Whoever begins is told.
fn code_is_of_a_login(code: &SqlState) -> bool {
    code.code().starts_with("28")
}

fn code_is_transient(code: &SqlState) -> bool {
    // 53 insufficient resources, 58 I/O of the system.
    code_is_of_a_closed_door(code)
        || code.code().starts_with("53")
        || is_of_the_server(code)
        || [
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::QUERY_CANCELED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(code)
}

/// Whether the server at the other end is no longer fit, whatever it is asked: its machine fails, or it
/// only reads since another took its place. The next connection may lead to one that is.
pub(super) fn is_of_the_server(code: &SqlState) -> bool {
    code.code().starts_with("58") || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

/// Errors that are neither answers of the server nor faults of what we asked.
fn is_of_the_connection(error: &tokio_postgres::Error) -> bool {
    let io = std::error::Error::source(error)
        .is_some_and(|cause| cause.downcast_ref::<std::io::Error>().is_some());
    error.is_closed() || io || error.to_string().contains("timeout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_attempt_or_another_server_may_cure_is_tried_again() {
        for code in [
            "08006", "28000", "28P01", "53300", "57P01", "58030", "58P01", "25006", "40P01",
            "57014",
        ] {
            assert!(code_is_transient(&SqlState::from_code(code)), "{code}");
        }
        for code in ["42601", "42501", "23505", "22P02"] {
            assert!(!code_is_transient(&SqlState::from_code(code)), "{code}");
        }
    }

    #[test]
    fn a_server_that_fails_or_only_reads_is_left() {
        for (code, left) in [
            ("58030", true),
            ("25006", true),
            ("53300", false),
            ("40P01", false),
        ] {
            assert_eq!(is_of_the_server(&SqlState::from_code(code)), left, "{code}");
        }
    }
}
