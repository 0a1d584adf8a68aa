//! Buckets in an S3 server: plain HTTP, the bucket in the path, requests signed.

mod name;
mod signature;

use http::{Method, Request, StatusCode, header::HOST};
use http_body_util::Empty;
use hyper::body::Bytes;
use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use self::signature::Signer;
use crate::{
    connection::{self, Answer, BodyRule, chain},
    resolve::Resolve,
};

/// Only refusals have anything to say.
const BODY: BodyRule = BodyRule {
    read: |status| status != StatusCode::OK,
    limit: 64 * 1024,
};

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
        let body = answer.body.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
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
        let words = capitalized(&method);
        let answer = timeout_at(self.deadline, self.exchange(method, bucket)).await;
        answer
            .unwrap_or_else(|_| Err("i/o timeout".to_owned()))
            .map_err(|cause| format!("{words} \"{address}\": {cause}"))
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
        let mut request = Request::builder()
            .method(&method)
            .uri(&path)
            .header(HOST, &host);
        for (name, value) in signer.headers(&method, &host, &path) {
            request = request.header(name, value);
        }
        let request = request
            .body(Empty::<Bytes>::new())
            .map_err(|error| chain(&error))?;
        let stream = connection::connect(self.resolve, self.host, self.port).await?;
        connection::exchange(stream, request, BODY).await
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
