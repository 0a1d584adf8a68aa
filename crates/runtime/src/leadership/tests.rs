use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use kube::client::Body;
use mainstay_cluster::fence::Fence;

use super::*;

/// The lease as an API server keeps it; it takes every write.
#[derive(Clone, Default)]
pub(crate) struct Server {
    lease: Arc<Mutex<Option<Vec<u8>>>>,
    writes: Arc<Mutex<u32>>,
}

impl Server {
    pub(crate) fn client(&self) -> Client {
        let server = self.clone();
        let answer = move |request: Request<Body>| -> BoxFuture<'static, _> {
            let server = server.clone();
            Box::pin(async move { Ok::<_, Infallible>(server.answer(request).await) })
        };
        Client::new(Mock(answer), "default")
    }

    /// Writes that came in.
    pub(crate) fn writes(&self) -> u32 {
        *self.writes.lock().unwrap()
    }

    async fn answer(&self, request: Request<Body>) -> Response<Full<Bytes>> {
        let is_watch = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("watch"));
        if is_watch
            || !request.uri().path().ends_with("/election") && request.method() == Method::GET
        {
            return refusal(StatusCode::SERVICE_UNAVAILABLE);
        }
        if request.method() != Method::GET {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            *self.writes.lock().unwrap() += 1;
            *self.lease.lock().unwrap() = Some(body.to_vec());
        }
        match self.lease.lock().unwrap().clone() {
            Some(lease) => Response::new(Full::from(lease)),
            None => refusal(StatusCode::NOT_FOUND),
        }
    }
}

/// A function as a service.
struct Mock<F>(F);

impl<F> tower::Service<Request<Body>> for Mock<F>
where
    F: FnMut(Request<Body>) -> BoxFuture<'static, Result<Response<Full<Bytes>>, Infallible>>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        (self.0)(request)
    }
}

fn refusal(status: StatusCode) -> Response<Full<Bytes>> {
    let reason = if status == StatusCode::NOT_FOUND {
        "NotFound"
    } else {
        "ServiceUnavailable"
    };
    let text = format!(
        r#"{{"kind":"Status","status":"Failure","reason":"{reason}","message":"no","code":{}}}"#,
        status.as_u16()
    );
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}

fn election() -> Election {
    Election {
        lease_duration: Duration::from_millis(600),
        renew_deadline: Duration::from_millis(400),
        retry_period: Duration::from_millis(40),
        ..Election::new(
            "n".to_owned(),
            "election".to_owned(),
            "us_1".to_owned(),
            true,
        )
    }
}

fn candidate(server: &Server, pulse: Pulse) -> (Candidate, Fence) {
    let (permit, fence) = Fence::new(Permit::Denied);
    let candidate = Candidate::new(server.client(), election(), permit, pulse);
    (candidate, fence)
}

async fn acquired(candidate: &mut Candidate) {
    let acquired = tokio::time::timeout(Duration::from_secs(10), candidate.acquire());
    acquired.await.unwrap();
}

#[tokio::test]
async fn the_lease_is_left_to_others_when_the_workers_make_no_progress() {
    let server = Server::default();
    // Nobody beats, so this pulse is fresh at the beginning only.
    let (mut candidate, fence) = candidate(&server, Pulse::default());
    acquired(&mut candidate).await;
    assert!(fence.is_open());
    let kept = tokio::time::timeout(
        Duration::from_secs(5),
        candidate.keep(std::future::pending()),
    );
    assert_eq!(kept.await, Ok(false));
    assert!(!fence.is_open());
    let writes = *server.writes.lock().unwrap();
    let again = tokio::time::timeout(Duration::from_secs(1), candidate.acquire());
    assert!(again.await.is_err(), "who is stuck does not stand either");
    assert_eq!(*server.writes.lock().unwrap(), writes);
}

#[tokio::test]
async fn the_lease_is_kept_while_the_workers_make_progress() {
    let server = Server::default();
    let pulse = Pulse::default();
    let (mut candidate, fence) = candidate(&server, pulse.clone());
    acquired(&mut candidate).await;
    let beats = async {
        for _ in 0..20 {
            pulse.beat();
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
    };
    assert!(candidate.keep(beats).await, "three times the deadline");
    assert!(!fence.is_open(), "the work is over");
    assert!(*server.writes.lock().unwrap() > 10);
}

#[tokio::test]
async fn who_has_been_stuck_from_the_beginning_never_leads() {
    let server = Server::default();
    let (mut candidate, fence) = candidate(&server, Pulse::stopped());
    let acquired = tokio::time::timeout(Duration::from_secs(1), candidate.acquire());
    assert!(acquired.await.is_err());
    assert!(!fence.is_open());
    assert_eq!(*server.writes.lock().unwrap(), 0);
}
