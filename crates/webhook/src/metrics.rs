//! What the webhooks count, under the names of controller-runtime: dashboards and alerts know them.

use std::time::Instant;

use http::StatusCode;
use mainstay_runtime::metrics::Metrics;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
};

use crate::review::Webhook;

/// Label of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WebhookLabel {
    /// Its path.
    webhook: &'static str,
}

/// Labels of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabel {
    /// Status code.
    code: u16,
    /// Path of the webhook.
    webhook: &'static str,
}

/// All of it. Clones count together.
#[derive(Clone, Debug)]
pub struct WebhookMetrics {
    answers: Family<AnswerLabel, Counter>,
    in_flight: Family<WebhookLabel, Gauge>,
    seconds: Family<WebhookLabel, Histogram>,
    panics: Counter,
    pub(crate) certificates_read: Counter,
    pub(crate) certificates_refused: Counter,
}

impl WebhookMetrics {
    /// For these webhooks.
    pub fn new(webhooks: &[Webhook]) -> Self {
        let histogram: fn() -> Histogram = || {
            Histogram::new([
                0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
            ])
        };
        let metrics = Self {
            answers: Family::default(),
            in_flight: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            panics: Counter::default(),
            certificates_read: Counter::default(),
            certificates_refused: Counter::default(),
        };
        // Visible before anything was asked.
        for webhook in webhooks.iter().map(|webhook| webhook.path) {
            for code in [StatusCode::OK, StatusCode::INTERNAL_SERVER_ERROR] {
                let code = code.as_u16();
                let _ = metrics
                    .answers
                    .get_or_create(&AnswerLabel { code, webhook });
            }
            let _ = metrics.in_flight.get_or_create(&WebhookLabel { webhook });
            let _ = metrics.seconds.get_or_create(&WebhookLabel { webhook });
        }
        metrics
    }

    /// Shows them among those of the process.
    pub fn register(&self, metrics: &Metrics) {
        metrics.register(
            "controller_runtime_webhook_requests",
            "Questions to webhooks by status code of the answer",
            self.answers.clone(),
        );
        metrics.register(
            "controller_runtime_webhook_requests_in_flight",
            "Questions that are being answered",
            self.in_flight.clone(),
        );
        metrics.register(
            "controller_runtime_webhook_latency_seconds",
            "Time until a question was answered",
            self.seconds.clone(),
        );
        metrics.register(
            "controller_runtime_webhook_panics",
            "Questions on which a webhook panicked",
            self.panics.clone(),
        );
        metrics.register(
            "certwatcher_read_certificate",
            "Reads of the serving certificate",
            self.certificates_read.clone(),
        );
        metrics.register(
            "certwatcher_read_certificate_errors",
            "Reads of the serving certificate that failed",
            self.certificates_refused.clone(),
        );
    }

    /// A question came in.
    pub(crate) fn begin(&self, webhook: &Webhook) -> InFlight<'_> {
        let webhook = webhook.path;
        self.in_flight
            .get_or_create(&WebhookLabel { webhook })
            .inc();
        InFlight {
            metrics: self,
            webhook,
            begun: Instant::now(),
        }
    }

    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }
}

/// A question that is being answered. Whoever asks may go away before the end.
#[derive(Debug)]
pub(crate) struct InFlight<'metrics> {
    metrics: &'metrics WebhookMetrics,
    webhook: &'static str,
    begun: Instant,
}

impl InFlight<'_> {
    /// The answer is there.
    pub(crate) fn answered(self, status: StatusCode) {
        let (webhook, code) = (self.webhook, status.as_u16());
        let metrics = self.metrics;
        metrics
            .answers
            .get_or_create(&AnswerLabel { code, webhook })
            .inc();
        metrics
            .seconds
            .get_or_create(&WebhookLabel { webhook })
            .observe(self.begun.elapsed().as_secs_f64());
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let webhook = self.webhook;
        self.metrics
            .in_flight
            .get_or_create(&WebhookLabel { webhook })
            .dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::allowed;

    const fn webhook(path: &'static str) -> Webhook {
        Webhook {
            path,
            judge: |_| allowed(),
        }
    }

    #[test]
    fn series_that_dashboards_know_keep_their_names() {
        let process = Metrics::new();
        let [first, second] = [webhook("/validate-thing"), webhook("/mutate-pod")];
        let metrics = WebhookMetrics::new(&[first, second]);
        metrics.register(&process);
        metrics.begin(&first).answered(StatusCode::OK);
        let _open = metrics.begin(&second);
        drop(metrics.begin(&second));
        metrics.panicked();
        metrics.certificates_read.inc();
        let text = process.render();
        for series in [
            r#"controller_runtime_webhook_requests_total{code="200",webhook="/validate-thing"} 1"#,
            r#"controller_runtime_webhook_requests_total{code="500",webhook="/validate-thing"} 0"#,
            r#"controller_runtime_webhook_latency_seconds_count{webhook="/validate-thing"} 1"#,
            r#"controller_runtime_webhook_requests_in_flight{webhook="/validate-thing"} 0"#,
            r#"controller_runtime_webhook_requests_in_flight{webhook="/mutate-pod"} 1"#,
            "controller_runtime_webhook_panics_total 1",
            "certwatcher_read_certificate_total 1",
            "certwatcher_read_certificate_errors_total 0",
        ] {
            assert!(text.contains(series), "{series} in\n{text}");
        }
    }
}
