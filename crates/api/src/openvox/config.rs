//! `Config`: the configuration that servers share.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;

use super::shared::{CodeSpec, ImageSpec, Texts};
use crate::{absence::absent_spec_is_empty, condition, object::object, word::word};

object! {
    /// What servers have in common.
    #[derive(CustomResource)]
    #[kube(
        group = "openvox.voxpupuli.org",
        version = "v1alpha1",
        kind = "Config",
        plural = "configs",
        singular = "config",
        shortname = "cfg",
        namespaced,
        status = "ConfigStatus",
        derive = "Default",
        derive = "PartialEq",
        doc = "The configuration that servers share: their image, puppet.conf, and what follows from them.",
        annotation("controller-gen.kubebuilder.io/version", "v0.20.1"),
        printcolumn = r#"{"name": "CA", "type": "string", "jsonPath": ".spec.authorityRef"}"#,
        printcolumn = r#"{"name": "Image", "type": "string", "jsonPath": ".spec.image.tag"}"#,
        printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
        printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
    )]
    #[serde(remote = "Self")]
    pub struct ConfigSpec {
        required {
            /// Image of the servers and of the Job that sets up the authority.
            image: ImageSpec,
        }
        optional {
            /// The CertificateAuthority.
            authority_ref: String,

            /// The Database that facts, catalogs and reports go to.
            database_ref: String,

            /// A database outside this cluster.
            puppetdb: PuppetDbSpec,

            /// Settings of `puppet.conf`.
            puppet: PuppetSpec,

            /// Settings of the server program.
            puppetserver: PuppetServerSpec,

            /// What is logged.
            logging: LoggingSpec,

            /// What is measured.
            metrics: MetricsSpec,

            /// The NodeClassifier.
            node_classifier_ref: String,

            /// Where Puppet environments come from.
            code: Option<CodeSpec>,

            /// Whether containers of servers cannot write to their own file system.
            #[schemars(extend("default" = false))]
            read_only_root_filesystem: bool,
        }
    }
}

absent_spec_is_empty!(ConfigSpec);

object! {
    /// A database outside this cluster.
    pub struct PuppetDbSpec {
        optional {
            /// Its addresses.
            server_urls: Vec<String>,
        }
    }
}

object! {
    /// Settings of `puppet.conf`.
    pub struct PuppetSpec {
        optional {
            /// How long environments are kept in memory.
            environment_timeout: String,

            /// Directory of the environments.
            #[schemars(extend("default" = "/etc/puppetlabs/code/environments"))]
            environment_path: String,

            /// File of Hiera.
            #[schemars(extend("default" = "$confdir/hiera.yaml"))]
            hiera_config: String,

            /// Whether catalogs and facts are stored.
            #[schemars(extend("default" = true))]
            storeconfigs: bool,

            /// Where they are stored.
            #[schemars(extend("default" = "puppetdb"))]
            store_backend: String,

            /// Report handlers, separated by commas.
            #[schemars(extend("default" = "puppetdb"))]
            reports: String,

            /// Further settings.
            extra_config: ExtraConfig,
        }
    }
}

object! {
    /// Further settings of `puppet.conf`, by section.
    pub struct ExtraConfig {
        optional {
            /// Section `main`.
            main: Texts,

            /// Section `server`.
            server: Texts,

            /// Section `agent`.
            agent: Texts,
        }
    }
}

object! {
    /// Settings of the server program.
    pub struct PuppetServerSpec {
        optional {
            /// After how many requests an interpreter is replaced. Zero: never.
            #[schemars(extend("default" = 0))]
            max_requests_per_instance: i32,

            /// Milliseconds that a request waits for an interpreter.
            #[schemars(extend("default" = 1_200_000))]
            borrow_timeout: i32,

            /// Whether Ruby code is compiled while it runs.
            #[schemars(extend("default" = "off"))]
            compile_mode: CompileMode,

            /// Whether clients have to show a certificate.
            #[schemars(extend("default" = "want"))]
            client_auth: ClientAuth,

            /// Connections of the server to others.
            http_client: HttpClientSpec,

            /// Rules of `auth.conf` beside the built-in ones.
            authorization_rules: Vec<AuthorizationRule>,
        }
    }
}

word! {
    /// Whether Ruby code is compiled while it runs.
    pub enum CompileMode {
        /// What is called often.
        Jit = "jit",
        /// Never.
        Off = "off",
    }
}

word! {
    /// Whether clients have to show a certificate.
    pub enum ClientAuth {
        /// They are asked for one.
        Want = "want",
        /// They must.
        Need = "need",
        /// They are not asked.
        None = "none",
    }
}

object! {
    /// Connections of the server to others.
    pub struct HttpClientSpec {
        optional {
            /// Milliseconds to connect.
            connect_timeout_ms: Option<i32>,

            /// Milliseconds without a byte.
            idle_timeout_ms: Option<i32>,
        }
    }
}

object! {
    /// A rule of `auth.conf`.
    pub struct AuthorizationRule {
        required {
            /// Its name.
            name: String,

            /// Which requests it is for.
            match_request: MatchRequest,
        }
        optional {
            /// Who may.
            allow: String,

            /// Whether everybody may, known or not. Wins over the others.
            allow_unauthenticated: bool,

            /// Who may not.
            deny: String,

            /// Rules with a lower number are asked first.
            #[schemars(extend("default" = 500))]
            sort_order: i32,
        }
    }
}

object! {
    /// Which requests a rule is for.
    pub struct MatchRequest {
        required {
            /// Path, or expression over paths.
            path: String,
        }
        optional {
            /// How the path is read.
            #[serde(rename = "type")]
            #[schemars(extend("default" = "path"))]
            match_type: MatchType,

            /// Methods. None: all.
            method: Vec<String>,
        }
    }
}

word! {
    /// How the path of a rule is read.
    pub enum MatchType {
        /// As the beginning of a path.
        Path = "path",
        /// As a regular expression.
        Regex = "regex",
    }
}

object! {
    /// What is logged.
    pub struct LoggingSpec {
        optional {
            /// From which level on.
            #[schemars(extend("default" = "INFO"))]
            level: LogLevel,

            /// Other levels, by logger.
            loggers: Texts,
        }
    }
}

word! {
    /// Levels of the log.
    pub enum LogLevel {
        /// Everything.
        Trace = "TRACE",
        /// For developers.
        Debug = "DEBUG",
        /// What happens.
        Info = "INFO",
        /// What should not happen.
        Warn = "WARN",
        /// What went wrong.
        Error = "ERROR",
    }
}

object! {
    /// What is measured.
    pub struct MetricsSpec {
        optional {
            /// Whether anything is.
            #[schemars(extend("default" = false))]
            enabled: bool,

            /// Figures over JMX.
            jmx: JmxSpec,

            /// Figures sent to Graphite.
            graphite: GraphiteSpec,
        }
    }
}

object! {
    /// Figures over JMX.
    pub struct JmxSpec {
        optional {
            /// Whether they are offered.
            #[schemars(extend("default" = false))]
            enabled: bool,
        }
    }
}

object! {
    /// Figures sent to Graphite.
    pub struct GraphiteSpec {
        optional {
            /// Whether they are sent.
            #[schemars(extend("default" = false))]
            enabled: bool,

            /// Its host.
            host: String,

            /// Its port.
            #[schemars(extend("default" = 2003))]
            port: i32,

            /// Seconds between two sendings.
            #[schemars(extend("default" = 60))]
            update_interval_seconds: i32,
        }
    }
}

object! {
    /// What became of it.
    pub struct ConfigStatus {
        optional {
            /// How far it is.
            phase: ConfigPhase,

            /// What the operator has to say about each aspect of the object.
            #[schemars(schema_with = "condition::list")]
            conditions: Vec<Condition>,
        }
    }
}

word! {
    /// How far a Config is.
    pub enum ConfigPhase {
        /// Its files are not written yet.
        Pending = "Pending",
        /// Its files are up to date.
        Running = "Running",
        /// Never written.
        Error = "Error",
    }
}
