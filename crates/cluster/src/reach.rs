//! Whether the API server can be reached, and how soon it wants to be asked again.
//!
//! A layer around the client sees every answer. While nobody answers, work is pointless and only makes noise; who works
//! waits for the end of [`Reach::away`]. An answer that names a time (`Retry-After`) holds back further requests for that kind, and
//! for that kind alone: one kind that is in trouble must not slow down the others.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, Method, Request, Response, StatusCode, header::RETRY_AFTER};
use tokio::{sync::watch, time::Instant};
use tower::{BoxError, Layer, Service, timeout::error::Elapsed};

/// Nobody has answered for this long, and somebody has asked: the server is away.
const AWAY_AFTER: Duration = Duration::from_secs(1);
/// Pause between two questions whether the server is back.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Longest time that an answer can ask us to wait.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Hears of every answer: method, and status code or `<error>`.
pub type Observer = Arc<dyn Fn(&Method, &str) + Send + Sync>;

/// What the layer finds out. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Reach {
    shared: Arc<Shared>,
    away: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Shared {
    away: watch::Sender<bool>,
    /// Since when nobody answers.
    failing_since: Mutex<Option<Instant>>,
    /// By resource: no request before this.
    not_before: Mutex<HashMap<String, Instant>>,
}

impl Default for Reach {
    fn default() -> Self {
        let (sender, away) = watch::channel(false);
        let shared = Shared {
            away: sender,
            failing_since: Mutex::default(),
            not_before: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            away,
        }
    }
}

impl Reach {
    /// Tells whether the server is away, and when that changes.
    pub fn away(&self) -> watch::Receiver<bool> {
        self.away.clone()
    }

    /// While the server is away, asks once a second whether it is back. Runs for ever.
    pub async fn look_out(self, client: kube::Client) {
        let mut away = self.away();
        // The sender is a part of this very value.
        while away.wait_for(|away| *away).await.is_ok() {
            // Whatever is answered, somebody answers; the layer takes note.
            let _ = client.apiserver_version().await;
            tokio::time::sleep(ASK_AGAIN).await;
        }
    }

    fn answered(&self) {
        *lock(&self.shared.failing_since) = None;
        let was_away = self.shared.away.send_if_modified(std::mem::take);
        if was_away {
            tracing::info!("The API server answers again");
        }
    }

    fn failed(&self, error: &BoxError) {
        let now = Instant::now();
        let since = *lock(&self.shared.failing_since).get_or_insert(now);
        if now.duration_since(since) < AWAY_AFTER {
            return;
        }
        let is_news = self
            .shared
            .away
            .send_if_modified(|away| !std::mem::replace(away, true));
        if is_news {
            let error: &(dyn std::error::Error + 'static) = error.as_ref();
            tracing::warn!(
                error,
                "The API server cannot be reached; work goes on when it answers"
            );
        }
    }

    fn hold_back(&self, path: &str, wait: Duration) {
        let now = Instant::now();
        let mut not_before = lock(&self.shared.not_before);
        not_before.retain(|_, end| *end > now);
        not_before.insert(resource_of(path).to_owned(), now + wait);
    }

    fn held_back(&self, path: &str) -> Option<Instant> {
        let not_before = lock(&self.shared.not_before);
        let end = not_before.get(resource_of(path)).copied()?;
        (end > Instant::now()).then_some(end)
    }
}

/// The part of a path that names the kind: `/apis/apps/v1/namespaces/a/deployments/b` is about `deployments`.
fn resource_of(path: &str) -> &str {
    let mut parts = path.trim_start_matches('/').split('/');
    let before = match parts.next() {
        Some("api") => 1,
        Some("apis") => 2,
        _ => return path,
    };
    let mut parts = parts.skip(before);
    match (parts.next(), parts.next(), parts.next()) {
        (Some("namespaces"), Some(_), Some(resource)) | (Some(resource), _, _) => resource,
        _ => path,
    }
}

/// The time that an overloaded server asks for. Parity with client-go: only seconds are understood.
fn asked_to_wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if !matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    ) {
        return None;
    }
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// Puts [`Reach`] around a client.
#[derive(Clone)]
pub(crate) struct ReachLayer {
    pub(crate) reach: Reach,
    pub(crate) observer: Observer,
    /// Longest wait for the head of an answer, not counting what the server asked for.
    pub(crate) deadline: Duration,
}

impl<S> Layer<S> for ReachLayer {
    type Service = ReachService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ReachService {
            inner,
            reach: self.reach.clone(),
            observer: self.observer.clone(),
            deadline: self.deadline,
        }
    }
}

/// The service that the layer makes.
pub(crate) struct ReachService<S> {
    inner: S,
    reach: Reach,
    observer: Observer,
    deadline: Duration,
}

impl<S> fmt::Debug for ReachService<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ReachService")
    }
}

impl<S, B, C> Service<Request<B>> for ReachService<S>
where
    S: Service<Request<B>, Response = Response<C>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
{
    type Response = Response<C>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path().to_owned();
        let method = request.method().clone();
        let observer = self.observer.clone();
        // Nothing is sent before this is polled.
        let answer = self.inner.call(request);
        let (reach, deadline) = (self.reach.clone(), self.deadline);
        Box::pin(async move {
            if let Some(end) = reach.held_back(&path) {
                tokio::time::sleep_until(end).await;
            }
            let answer = match tokio::time::timeout(deadline, answer).await {
                Ok(answer) => answer.map_err(Into::into),
                Err(_) => Err(Elapsed::new().into()),
            };
            match &answer {
                Ok(response) => {
                    observer(&method, response.status().as_str());
                    reach.answered();
                    if let Some(wait) = asked_to_wait(response.status(), response.headers()) {
                        reach.hold_back(&path, wait);
                    }
                }
                Err(error) => {
                    observer(&method, "<error>");
                    reach.failed(error);
                }
            }
            answer
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers once.
    struct Server(Option<Result<Response<()>, &'static str>>);

    impl Service<Request<()>> for Server {
        type Response = Response<()>;
        type Error = BoxError;
        type Future = std::future::Ready<Result<Response<()>, BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<()>) -> Self::Future {
            let answer = self.0.take().unwrap_or(Err("asked twice"));
            std::future::ready(answer.map_err(BoxError::from))
        }
    }

    /// Asks a server that answers like this.
    async fn ask(
        reach: &Reach,
        path: &str,
        answer: Result<Response<()>, &'static str>,
    ) -> Result<Response<()>, BoxError> {
        let mut service = ReachLayer {
            reach: reach.clone(),
            observer: Arc::new(|_, _| {}),
            deadline: Duration::from_secs(5),
        }
        .layer(Server(Some(answer)));
        let request = Request::get(path).body(()).unwrap();
        service.call(request).await
    }

    fn answer(code: u16, retry_after: Option<&str>) -> Response<()> {
        let mut response = Response::builder().status(code);
        if let Some(seconds) = retry_after {
            response = response.header(RETRY_AFTER, seconds);
        }
        response.body(()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_away_when_it_fails_for_a_while_and_back_with_the_first_answer() {
        let reach = Reach::default();
        let away = reach.away();
        assert!(ask(&reach, "/version", Err("refused")).await.is_err());
        assert!(!*away.borrow(), "one failure says little");
        tokio::time::advance(AWAY_AFTER).await;
        assert!(ask(&reach, "/version", Err("refused")).await.is_err());
        assert!(*away.borrow());
        assert!(ask(&reach, "/version", Ok(answer(403, None))).await.is_ok());
        assert!(!*away.borrow(), "whatever it answers");
        tokio::time::advance(AWAY_AFTER).await;
        assert!(ask(&reach, "/version", Err("refused")).await.is_err());
        assert!(!*away.borrow(), "counted anew");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_asked_to_wait_waits_with_requests_for_that_kind_alone() {
        let reach = Reach::default();
        let begin = Instant::now();
        for code in [429, 503] {
            let busy = Ok(answer(code, Some("7")));
            ask(&reach, "/apis/apps/v1/deployments", busy)
                .await
                .unwrap();
            let before = Instant::now();
            let other = "/api/v1/namespaces/a/services/b";
            ask(&reach, other, Ok(answer(200, None))).await.unwrap();
            assert_eq!(before.elapsed(), Duration::ZERO);
            let same = "/apis/apps/v1/namespaces/a/deployments/b";
            ask(&reach, same, Ok(answer(200, None))).await.unwrap();
            assert_eq!(before.elapsed(), Duration::from_secs(7));
        }
        ask(
            &reach,
            "/apis/apps/v1/deployments",
            Ok(answer(500, Some("7"))),
        )
        .await
        .unwrap();
        ask(&reach, "/apis/apps/v1/deployments", Ok(answer(200, None)))
            .await
            .unwrap();
        assert_eq!(begin.elapsed(), Duration::from_secs(14));
    }

    #[test]
    fn paths_are_told_apart_by_their_kind() {
        for (path, resource) in [
            ("/api/v1/namespaces/a/secrets/b", "secrets"),
            ("/api/v1/namespaces/a", "namespaces"),
            ("/api/v1/namespaces", "namespaces"),
            ("/api/v1/secrets", "secrets"),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/status",
                "deployments",
            ),
            ("/apis/apps/v1/deployments", "deployments"),
            ("/version", "/version"),
        ] {
            assert_eq!(resource_of(path), resource, "{path}");
        }
    }
}
