//! AWS Signature Version 4 for requests without a body or query.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{Timestamp, tz::TimeZone};
use mainstay_http::Method;
use sha2::{Digest as _, Sha256};

const REGION: &str = "us-east-1";
const SIGNED_HEADERS: &str = "host;x-amz-content-sha256;x-amz-date";

/// Signs requests.
pub(super) struct Signer<'effect> {
    pub(super) access_key: &'effect str,
    pub(super) secret_key: &'effect str,
    pub(super) time: Timestamp,
}

impl Signer<'_> {
    /// The headers that a request needs besides `host`.
    pub(super) fn headers(
        &self,
        method: &Method,
        host: &str,
        path: &str,
    ) -> [(&'static str, String); 3] {
        let time = self.time.to_zoned(TimeZone::UTC);
        let moment = time.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = time.strftime("%Y%m%d").to_string();
        let body = hexadecimal(&Sha256::digest(b""));
        let request = format!(
            "{method}\n{path}\n\nhost:{host}\nx-amz-content-sha256:{body}\nx-amz-date:{moment}\n\n{SIGNED_HEADERS}\n{body}"
        );
        let scope = format!("{day}/{REGION}/s3/aws4_request");
        let request = hexadecimal(&Sha256::digest(request));
        let statement = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{request}");
        let signature = hexadecimal(&keyed(&self.key(&day), &statement));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={SIGNED_HEADERS}, Signature={signature}",
            self.access_key
        );
        [
            ("x-amz-content-sha256", body),
            ("x-amz-date", moment),
            ("authorization", authorization),
        ]
    }

    /// A key that is good for a day.
    fn key(&self, day: &str) -> Vec<u8> {
        let start = format!("AWS4{}", self.secret_key).into_bytes();
        [day, REGION, "s3", "aws4_request"]
            .into_iter()
            .fold(start, |key, part| keyed(&key, part))
    }
}

/// The path of a bucket, escaped as the signature demands.
pub(super) fn path(bucket: &str) -> String {
    let mut path = "/".to_owned();
    for byte in bucket.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path.push('/');
    path
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    let mut code = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    code.update(text.as_bytes());
    code.finalize().into_bytes().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_nothing_but_plain_letters() {
        assert_eq!(path("golden-photos"), "/golden-photos/");
        assert_eq!(path("a:b_c"), "/a%3Ab_c/");
    }

    #[test]
    fn the_signature_depends_on_every_part() {
        let signature = |secret_key, method: Method, path: &str, second| {
            let time = Timestamp::from_second(second).unwrap();
            let signer = Signer {
                access_key: "key",
                secret_key,
                time,
            };
            let [.., (_, authorization)] = signer.headers(&method, "minio:9000", path);
            authorization
        };
        let first = signature("secret", Method::PUT, "/shop/", 0);
        assert!(
            first.starts_with("AWS4-HMAC-SHA256 Credential=key/19700101/us-east-1/s3/aws4_request, SignedHeaders=host;"),
            "{first}"
        );
        assert_eq!(first, signature("secret", Method::PUT, "/shop/", 0));
        assert_ne!(first, signature("other", Method::PUT, "/shop/", 0));
        assert_ne!(first, signature("secret", Method::HEAD, "/shop/", 0));
        assert_ne!(first, signature("secret", Method::PUT, "/cart/", 0));
        assert_ne!(first, signature("secret", Method::PUT, "/shop/", 1));
    }
}
