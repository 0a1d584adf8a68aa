//! Times of certificates.

use jiff::Timestamp;
use x509_cert::time::Time;

/// Certificates know whole seconds from 1970 to 9999, which are all times here too.
pub(crate) fn timestamp(time: Time) -> Timestamp {
    i64::try_from(time.to_unix_duration().as_secs())
        .ok()
        .and_then(|second| Timestamp::from_second(second).ok())
        .unwrap_or(Timestamp::MAX)
}
