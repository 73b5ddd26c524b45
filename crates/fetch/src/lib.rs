//! One request to one outcome over HTTP. The only crate that opens sockets to the web.
//!
//! It never follows a redirect, never repeats a request, never sleeps, and knows nothing of
//! robots.txt, scheduling or stores. Modules in the order of a fetch:
//!
//! * [`fetcher`]: the way in; sends a request and waits for its headers
//! * [`request`]: what is asked
//! * [`outgoing`]: the headers that go with it
//! * [`cookies`]: a small jar, where cookies are wanted
//! * [`connect`]: the guarded way to the network: addresses, proxies, TLS
//! * [`resolve`]: from names to addresses
//! * [`unsent`]: the empty body of a request, which knows when it was sent
//! * [`clock`]: the four timeouts on one timer
//! * [`head`]: status and headers of an answer
//! * [`answer`]: an answer whose body is still to come
//! * [`decode`]: decompression under caps
//! * [`failure`]: from library errors to named ends
//! * [`ended`]: a fetch that ended without a usable answer

mod answer;
mod clock;
mod connect;
mod cookies;
mod decode;
mod ended;
mod failure;
mod fetcher;
mod head;
mod outgoing;
mod request;
mod resolve;
mod unsent;

pub use answer::Answer;
pub use decode::Body;
pub use ended::Ended;
pub use fetcher::Fetcher;
pub use head::{Head, RetryAfter};
pub use request::{Accept, Method, Request};
pub use resolve::{Resolve, ResolveError};
