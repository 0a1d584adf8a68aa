//! The webhooks as a thread of the process.

use std::{fmt, io, path::PathBuf, sync::Arc, thread, time::Duration};

use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    version::{TLS12, TLS13},
};
use tokio::{net::TcpListener, sync::watch};
use tokio_rustls::TlsAcceptor;

use crate::{
    certificate::Watched,
    metrics::WebhookMetrics,
    review::{self, Webhook},
    server,
};

/// Pause between two looks at the files of the certificate, and between two tries to listen.
const PAUSE: Duration = Duration::from_secs(1);

/// Where the webhooks are served, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Address to listen on, with a host.
    pub address: String,
    /// Directory of the certificate.
    pub certificates: PathBuf,
}

/// How the webhooks are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// There is no certificate, so nobody expects them.
    Idle,
    /// There is something like a certificate, and they cannot be served.
    Broken(String),
    /// They are served.
    Served,
}

/// The running webhooks; they end with the process.
#[derive(Clone, Debug)]
pub struct Webhooks {
    state: watch::Receiver<State>,
}

impl Webhooks {
    /// Starts them. A certificate may appear later.
    pub fn start(
        webhooks: &'static [Webhook],
        settings: WebhookSettings,
        metrics: WebhookMetrics,
    ) -> io::Result<Self> {
        let (sender, state) = watch::channel(State::Idle);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        thread::Builder::new()
            .name("webhooks".to_owned())
            .spawn(move || runtime.block_on(run(webhooks, &settings, &sender, metrics)))?;
        Ok(Self { state })
    }

    /// Says what is wrong, if they are expected and cannot be served.
    pub fn check(&self) -> Result<(), String> {
        match &*self.state.borrow() {
            State::Idle | State::Served => Ok(()),
            State::Broken(reason) => Err(format!("the webhooks are not served: {reason}")),
        }
    }
}

/// Waits for a certificate, serves with it, and with every one that comes after.
async fn run(
    webhooks: &'static [Webhook],
    settings: &WebhookSettings,
    state: &watch::Sender<State>,
    metrics: WebhookMetrics,
) {
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
    let mut watched = Watched::new(settings.certificates.clone(), provider.clone());
    while !look(&mut watched, state, &metrics) {
        tokio::time::sleep(PAUSE).await;
    }
    let acceptor = match acceptor(&watched, provider) {
        Ok(acceptor) => acceptor,
        Err(error) => return broken(state, &error),
    };
    let listener = loop {
        match TcpListener::bind(&settings.address).await {
            Ok(listener) => break listener,
            Err(error) => broken(state, &format_args!("{}: {error}", settings.address)),
        }
        tokio::time::sleep(PAUSE).await;
    };
    tracing::info!(address = settings.address, "Serving webhooks");
    state.send_replace(State::Served);
    let renewing = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            look(&mut watched, state, &metrics);
        }
    };
    tokio::select! {
        () = server::serve(listener, acceptor, webhooks, review::answer, metrics.clone()) => {}
        () = renewing => {}
    }
}

/// Looks at the files, and says whether there is a certificate to serve with.
fn look(watched: &mut Watched, state: &watch::Sender<State>, metrics: &WebhookMetrics) -> bool {
    let had_one = watched.certificate().is_loaded();
    let looked = watched.look();
    match &looked {
        None => {}
        Some(_) if watched.is_empty() => {}
        Some(Ok(())) => {
            metrics.certificates_read.inc();
        }
        Some(Err(_)) => {
            metrics.certificates_read.inc();
            metrics.certificates_refused.inc();
        }
    }
    match looked {
        Some(Ok(())) if had_one => tracing::info!("Took over a new certificate for the webhooks"),
        None | Some(Ok(())) => {}
        // The old one is used until the new one is complete, or until clients refuse it.
        Some(Err(error)) if had_one => {
            tracing::warn!(error = %error, "A new certificate for the webhooks is not used");
        }
        Some(Err(error)) if watched.is_empty() => {
            tracing::info!(reason = %error, "Webhooks are not served");
            state.send_replace(State::Idle);
        }
        Some(Err(error)) => broken(state, &error),
    }
    watched.certificate().is_loaded()
}

fn acceptor(
    watched: &Watched,
    provider: Arc<CryptoProvider>,
) -> Result<TlsAcceptor, rustls::Error> {
    let config = ServerConfig::builder_with_provider(provider)
        // What both sides know is chosen in this order.
        .with_protocol_versions(&[&TLS13, &TLS12])?
        .with_no_client_auth();
    let mut config = config.with_cert_resolver(watched.certificate());
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn broken(state: &watch::Sender<State>, reason: &dyn fmt::Display) {
    let next = State::Broken(reason.to_string());
    // Said once, however long it lasts.
    if *state.borrow() != next {
        tracing::warn!(reason = %reason, "Webhooks are not served");
        state.send_replace(next);
    }
}
