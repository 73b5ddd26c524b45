//! From the errors of the HTTP library to named ends. Details are written here because the
//! library's own texts may name addresses or say nothing.

use std::{error::Error, io};

use trawl_types::OutcomeKind;

use crate::{connect::tls_error, ended::End};

/// What went wrong before an answer's headers were in.
pub(crate) fn before_answer(error: &(dyn Error + 'static)) -> End {
    for cause in causes(error) {
        if let Some(end) = cause.downcast_ref::<End>() {
            return end.clone();
        }
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse_too_large() {
                return headers_too_large();
            }
            if hyper.is_parse() {
                return End::new(OutcomeKind::ProtocolError, format!("not HTTP: {hyper}"));
            }
            if hyper.is_incomplete_message() || hyper.is_canceled() || hyper.is_closed() {
                return reset("the connection was closed without an answer");
            }
        }
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return of_io(io, "the connection broke before an answer");
        }
    }
    End::new(OutcomeKind::ProtocolError, deepest(error))
}

/// What went wrong while a body arrived. `announced` says that its length was known beforehand.
pub(crate) fn in_body(error: &(dyn Error + 'static), announced: bool) -> End {
    for cause in causes(error) {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_incomplete_message() {
                return cut_short(announced);
            }
            if hyper.is_canceled() || hyper.is_closed() {
                return reset("the connection was closed within the body");
            }
        }
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return match io.kind() {
                io::ErrorKind::UnexpectedEof => cut_short(announced),
                _ => of_io(io, "the connection broke within the body"),
            };
        }
    }
    End::new(OutcomeKind::ProtocolError, deepest(error))
}

pub(crate) fn headers_too_large() -> End {
    End::new(OutcomeKind::ProtocolError, "the headers are too large")
}

fn of_io(error: &io::Error, broke: &str) -> End {
    if let Some(tls) = tls_error(error) {
        return End::new(OutcomeKind::TlsFailure, tls.to_string());
    }
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            End::new(OutcomeKind::ProtocolError, format!("not HTTP: {error}"))
        }
        _ => reset(broke),
    }
}

fn cut_short(announced: bool) -> End {
    if announced {
        End::new(
            OutcomeKind::LengthMismatch,
            "the body is shorter than its announced length",
        )
    } else {
        reset("the connection was closed within the body")
    }
}

fn reset(detail: &str) -> End {
    End::new(OutcomeKind::ConnectionReset, detail)
}

/// The cause that says most, for errors without a name of their own.
fn deepest(error: &(dyn Error + 'static)) -> String {
    causes(error)
        .last()
        .map_or_else(String::new, ToString::to_string)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        error.source()
    })
}
