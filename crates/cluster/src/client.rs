//! One API client for the whole process.

use std::{path::Path, time::Duration};

use http::{HeaderName, HeaderValue};
use kube::{
    Client, Config,
    client::ClientBuilder,
    config::{KubeConfigOptions, Kubeconfig},
};
use tower::{BoxError, timeout::TimeoutLayer, util::MapErrLayer};

use crate::{
    error::Unreachable,
    reach::{Observer, Reach, ReachLayer},
};

/// How every request of this product is recognised in the audit log.
pub const USER_AGENT: &str = concat!("mainstay/", env!("CARGO_PKG_VERSION"));

/// Longest wait for the head of an answer. Watches answer at once and stream afterwards.
const REQUEST_DEADLINE: Duration = Duration::from_secs(15);

/// The cluster cannot be reached with the given configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig file cannot be used.
    #[error("could not read kubeconfig `{path}`")]
    Kubeconfig {
        /// File.
        path: String,
        /// Cause.
        #[source]
        source: kube::config::KubeconfigError,
    },
    /// Neither a kubeconfig nor an in-cluster service account.
    #[error("found no cluster: neither a kubeconfig nor an in-cluster service account")]
    Infer(#[source] kube::config::InferConfigError),
    /// The client cannot be built.
    #[error("could not build the API client")]
    Client(#[source] kube::Error),
}

/// Finds the cluster: the given kubeconfig file, else `KUBECONFIG`, `~/.kube/config` or the service account.
pub async fn find_config(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<Config, ConnectError> {
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    match kubeconfig {
        Some(path) => {
            let wrap = |source| ConnectError::Kubeconfig {
                path: path.display().to_string(),
                source,
            };
            let file = Kubeconfig::read_from(path).map_err(wrap)?;
            Config::from_custom_kubeconfig(file, &options)
                .await
                .map_err(wrap)
        }
        None if context.is_some() => {
            Config::from_kubeconfig(&options)
                .await
                .map_err(|source| ConnectError::Kubeconfig {
                    path: "KUBECONFIG".to_owned(),
                    source,
                })
        }
        None => Config::infer().await.map_err(ConnectError::Infer),
    }
}

/// Builds the client: our name on every request, a deadline, and no hidden retries (the commit knows better
/// than the transport whether a request may be repeated).
///
/// `context` is what users know the cluster by, for errors.
pub fn connect(config: Config, context: Option<&str>) -> Result<Client, ConnectError> {
    let place = match context {
        Some(context) => format!("{} (context {context})", config.cluster_url),
        None => config.cluster_url.to_string(),
    };
    let builder = ClientBuilder::try_from(with_our_name(config)).map_err(ConnectError::Client)?;
    Ok(builder
        .with_layer(&TimeoutLayer::new(REQUEST_DEADLINE))
        .with_layer(&MapErrLayer::new(move |error| unreachable(&place, error)))
        .build())
}

/// The client of a process that stays: it also notes whether the server answers, and waits when the server asks for it.
pub fn connect_for_long(
    config: Config,
    observer: Observer,
) -> Result<(Client, Reach), ConnectError> {
    let place = config.cluster_url.to_string();
    let builder = ClientBuilder::try_from(with_our_name(config)).map_err(ConnectError::Client)?;
    let reach = Reach::default();
    let layer = ReachLayer {
        reach: reach.clone(),
        observer,
        deadline: REQUEST_DEADLINE,
    };
    let client = builder
        .with_layer(&layer)
        .with_layer(&MapErrLayer::new(move |error| unreachable(&place, error)))
        .build();
    Ok((client, reach))
}

fn with_our_name(mut config: Config) -> Config {
    config.headers.push((
        HeaderName::from_static("user-agent"),
        HeaderValue::from_static(USER_AGENT),
    ));
    config.default_retry = false;
    config
}

/// Whoever reads that a connection was refused wants to know whose.
fn unreachable(place: &str, error: BoxError) -> BoxError {
    if error.is::<kube::Error>() {
        return error;
    }
    let place = place.to_owned();
    Unreachable {
        place,
        source: error,
    }
    .into()
}

/// The context that is used if none is named.
pub fn current_context(kubeconfig: Option<&Path>) -> Option<String> {
    let config = match kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    config.ok()?.current_context
}
