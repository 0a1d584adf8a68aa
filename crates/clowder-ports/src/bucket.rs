//! Buckets in an S3 server: plain HTTP, the bucket in the path, requests signed.

mod name;
mod signature;

use jiff::Timestamp;
use mainstay_http::{
    Client, Error, HeaderName, HeaderValue, Method, Request, Resolve, Rules, Schemes, StatusCode,
    addresses, causes,
};
use tokio::time::Instant;

use self::signature::Signer;
use crate::words;

/// Longest error document that is read.
const BODY_LIMIT: usize = 64 * 1024;

/// What a server answered.
struct Answer {
    status: StatusCode,
    /// Only refusals have anything to say.
    body: Vec<u8>,
}

/// A server, and how to sign requests to it.
pub(crate) struct Server<'effect> {
    pub(crate) resolve: &'effect Resolve,
    /// When all of it has to be over.
    pub(crate) deadline: Instant,
    pub(crate) host: &'effect str,
    pub(crate) port: u16,
    pub(crate) access_key: &'effect str,
    pub(crate) secret_key: &'effect str,
}

impl Server<'_> {
    /// Makes sure that the bucket exists, whoever made it.
    pub(crate) async fn ensure(&self, bucket: &str) -> Result<(), String> {
        let exists = self.exists(bucket).await.map_err(|cause| {
            format!("bucket \"{bucket}\" -- failed to check if bucket exists: {cause}")
        })?;
        if exists {
            return Ok(());
        }
        self.create(bucket)
            .await
            .map_err(|cause| format!("bucket \"{bucket}\" -- failed to create bucket: {cause}"))
    }

    async fn exists(&self, bucket: &str) -> Result<bool, String> {
        name::check(bucket)?;
        let answer = self.send(Method::HEAD, bucket).await?;
        match answer.status {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            // An answer to HEAD has no body that could say more.
            StatusCode::FORBIDDEN => Err("Access Denied.".to_owned()),
            status => Err(status.to_string()),
        }
    }

    async fn create(&self, bucket: &str) -> Result<(), String> {
        name::check_strictly(bucket)?;
        let answer = self.send(Method::PUT, bucket).await?;
        let status = answer.status;
        if status == StatusCode::OK {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&answer.body);
        let code = element(&body, "Code").unwrap_or_default();
        // Several apps may ask for the same bucket at once.
        if matches!(code, "BucketAlreadyOwnedByYou" | "BucketAlreadyExists")
            && self.exists(bucket).await?
        {
            return Ok(());
        }
        let message = element(&body, "Message").filter(|message| !message.is_empty());
        Err(message.map_or_else(|| status.to_string(), str::to_owned))
    }

    async fn send(&self, method: Method, bucket: &str) -> Result<Answer, String> {
        let (host, port) = (self.host, self.port);
        let address = format!("http://{host}:{port}/{bucket}/");
        let verb = capitalized(&method);
        let answer = self.exchange(method, bucket).await;
        answer.map_err(|cause| format!("{verb} \"{address}\": {cause}"))
    }

    async fn exchange(&self, method: Method, bucket: &str) -> Result<Answer, String> {
        let host = match self.port {
            80 => self.host.to_owned(),
            port => format!("{}:{port}", self.host),
        };
        let signer = Signer {
            access_key: self.access_key,
            secret_key: self.secret_key,
            time: Timestamp::now(),
        };
        let path = signature::path(bucket);
        let request = Request::new(method.clone(), &format!("http://{host}{path}"));
        let mut request = request.map_err(|error| words::told(&error))?;
        for (name, value) in signer.headers(&method, &host, &path) {
            let value = HeaderValue::from_str(&value).map_err(|error| causes(&error))?;
            request = request.with_header(HeaderName::from_static(name), value);
        }
        let client = Client::default().with_resolve(self.resolve.clone());
        match client.send(&request, &self.rules()).await {
            Ok(answer) => Ok(Answer {
                status: answer.status,
                body: answer.body.to_vec(),
            }),
            // The status is an answer even if its document is not to be read.
            Err(Error::Body { status, .. } | Error::TooLarge { status, .. }) => Ok(Answer {
                status,
                body: Vec::new(),
            }),
            Err(Error::Deadline { .. } | Error::ConnectTimeout { .. }) => {
                Err("i/o timeout".to_owned())
            }
            Err(error) => Err(words::told(&error)),
        }
    }

    /// The server is one that the operator itself runs or was given, wherever it is.
    fn rules(&self) -> Rules {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Rules {
            schemes: Schemes::HttpAndHttps,
            addresses: addresses::any,
            redirects: 0,
            reads_body: |status| status != StatusCode::OK,
            body_limit: BODY_LIMIT,
            connect_timeout: left,
            total_timeout: left,
            ..Rules::default()
        }
    }
}

/// `Head`, `Put`: the original's client writes methods that way.
fn capitalized(method: &Method) -> String {
    let name = method.as_str();
    let (first, rest) = name.split_at(1);
    format!("{first}{}", rest.to_ascii_lowercase())
}

/// The text of the first element of this name. Error documents are flat, and these elements hold plain text.
fn element<'document>(document: &'document str, name: &str) -> Option<&'document str> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_elements_of_an_error_document() {
        let document = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>It is gone</Message></Error>";
        assert_eq!(element(document, "Code"), Some("NoSuchBucket"));
        assert_eq!(element(document, "Message"), Some("It is gone"));
        assert_eq!(element("<html>", "Code"), None);
    }
}
