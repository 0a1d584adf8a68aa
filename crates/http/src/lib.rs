//! The one HTTP client of the suite: requests are few, and their targets are chosen by users.
//!
//! So every request has [`Rules`]: which schemes, hosts and addresses, how many redirects, how much of an answer, how
//! long. The address that was judged is the one that is connected to, a redirect is judged like a first request, and
//! nothing is followed from https to http. Errors are values that callers word as they like; none of them holds a
//! query, a credential, a header or a body.
//!
//! ```no_run
//! use mainstay_http::{Client, Request, Rules};
//!
//! # async fn example() -> Result<(), mainstay_http::Error> {
//! let response = Client::default()
//!     .send(&Request::get("https://example.com/bundle.yaml")?, &Rules::default())
//!     .await?;
//! assert!(response.status.is_success());
//! # Ok(())
//! # }
//! ```
//!
//! Each request has a connection of its own, which is closed when its future ends or is dropped.
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod addresses;
mod client;
mod connection;
mod error;
mod proxy;
mod request;
pub mod resolve;
mod rules;
mod tls;

pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use hyper::body::Bytes;

pub use self::{
    client::Client,
    connection::dial,
    error::{Error, causes},
    proxy::Proxy,
    request::{Request, Response},
    resolve::Resolve,
    rules::{Hosts, Rules, Schemes},
    tls::{Identity, Tls, Trust},
};
