//! The system's name servers through a caching resolver, which honours TTLs and needs no thread
//! per question. Where the system's configuration cannot be read, the C library is asked instead.

use std::net::IpAddr;

use hickory_resolver::{TokioResolver, net::NetError};
use tokio::sync::OnceCell;

use super::{Resolve, ResolveError};

/// Built on the first question: it needs a runtime, and its cache is not small.
#[derive(Debug, Default)]
pub(crate) struct SystemResolver {
    caching: OnceCell<Option<TokioResolver>>,
}

#[async_trait::async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        match self.caching.get_or_init(|| async { caching() }).await {
            Some(resolver) => ask(resolver, name).await,
            None => ask_system(name).await,
        }
    }
}

fn caching() -> Option<TokioResolver> {
    let built = TokioResolver::builder_tokio().and_then(hickory_resolver::ResolverBuilder::build);
    built
        .inspect_err(
            |error| tracing::warn!(%error, "DNS settings unreadable, asking the C library"),
        )
        .ok()
}

async fn ask(resolver: &TokioResolver, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
    // The dot says that the name is complete: no search domains are tried.
    match resolver.lookup_ip(format!("{name}.")).await {
        Ok(found) => Ok(found.iter().collect()),
        Err(error) if error.is_no_records_found() => Err(ResolveError::NotFound),
        Err(error) => Err(ResolveError::Failed(explain(&error))),
    }
}

/// The error without the name server's address, which is nobody's business.
fn explain(error: &NetError) -> String {
    match error {
        NetError::Timeout => "the name server did not answer".to_owned(),
        _ => "the name server gave no usable answer".to_owned(),
    }
}

async fn ask_system(name: &str) -> Result<Vec<IpAddr>, ResolveError> {
    match tokio::net::lookup_host((name, 0)).await {
        Ok(found) => Ok(found.map(|address| address.ip()).collect()),
        Err(error) => Err(of_system(&error)),
    }
}

/// The C library's code does not come through, its words do: those of Linux, of BSD and macOS.
fn of_system(error: &std::io::Error) -> ResolveError {
    const NOT_FOUND: [&str; 3] = [
        "Name or service not known",
        "No address associated with",
        "nodename nor servname",
    ];
    let text = error.to_string();
    if NOT_FOUND.iter().any(|words| text.contains(words)) {
        ResolveError::NotFound
    } else {
        ResolveError::Failed(text)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[test]
    fn a_name_that_is_not_is_told_from_a_name_server_in_trouble() {
        let of = |text: &str| of_system(&Error::other(text));
        let words = "failed to lookup address information: ";
        let missing = of(&format!("{words}Name or service not known"));
        assert_eq!(missing, ResolveError::NotFound);
        let trouble = of(&format!("{words}Temporary failure in name resolution"));
        assert!(matches!(trouble, ResolveError::Failed(_)));
    }
}
