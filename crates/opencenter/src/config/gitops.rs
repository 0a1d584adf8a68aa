//! Git repositories, Flux settings and overlay units.

use super::{
    field::{choice, section},
    format::Format,
    secret::Secret,
};
use crate::finding::Code;

section! {
    /// Git repositories, Flux settings and overlay units.
    struct Gitops {
        /// The repository that holds the overlay trees.
        repository: Repository [required];
        /// The repository with the shared bases.
        base_repo: BaseRepository;
        /// Access to the repositories.
        auth: GitAuth;
        /// Defaults for Flux objects.
        flux: FluxSettings;
        /// Parts of the tree that are not services.
        overlay_units: OverlayUnits;
        /// Whether resources that need definitions of other units wait behind a unit of their own.
        strict_crd_ordering: bool [flag(false)];
    }

    /// The repository that holds the overlay trees.
    struct Repository {
        /// Address of the repository.
        url: String [required, format(Format::Repository)];
        /// Branch that Flux follows.
        branch: String [word("main"), format(Format::GitRef)];
        /// Path that Flux was bootstrapped with.
        path: String [rule("`clusters/<cluster_name>`"), format(Format::RelativePath), not_rendered];
        /// Directory of the working copy; `--output-dir` overrides it.
        local_dir: String [rule("`clusters/<organization>`"), required];
        /// Secret with which Flux reads the repository.
        secret_name: String [word("flux-system"), format(Format::DnsName)];
    }

    /// The repository with the shared bases.
    struct BaseRepository {
        /// Address of the repository.
        url: String [rule("the public base repository, over https or ssh by Git access"), format(Format::Repository)];
        /// Tag to use; wins over the branch.
        release: Option<String> [format(Format::GitRef)];
        /// Branch to follow.
        branch: Option<String> [format(Format::GitRef)];
        /// Secret with which Flux reads the repository.
        secret_name: String [word("opencenter-base"), format(Format::DnsName)];
    }

    /// Access to the repositories; one of the two.
    struct GitAuth {
        /// Access with a key pair.
        ssh: Option<SshAuth>;
        /// Access with a token.
        token: Option<TokenAuth>;
    }

    /// Access with a key pair.
    struct SshAuth {
        /// Path of the private key.
        private_key: Option<String> [not_rendered];
        /// Path of the public key.
        public_key: Option<String> [not_rendered];
    }

    /// Access with a token.
    struct TokenAuth {
        /// The Git service that issued the token.
        provider: Option<TokenProvider> [not_rendered];
        /// The token.
        token: Option<Secret> [not_rendered];
        /// Path of a file with the token.
        token_file: Option<String> [not_rendered];
        /// Owner of the repository.
        owner: Option<String> [not_rendered];
        /// Organization of the repository.
        organization: Option<String> [not_rendered];
    }

    /// Defaults for Flux objects.
    struct FluxSettings {
        /// How often units without an interval of their own are reconciled.
        interval: String [word("5m"), format(Format::Duration)];
        /// Whether Flux deletes what is no longer in the tree.
        prune: bool [flag(true)];
    }

    /// Parts of the tree that are not services.
    struct OverlayUnits {
        /// The directory that `flux bootstrap` writes.
        flux_system: FluxSystem;
        /// Applications of the customer, from a repository of their own.
        customer_managed: CustomerManaged;
        /// Rules for SOPS in the tree.
        sops: SopsUnit;
    }

    /// The directory that `flux bootstrap` writes.
    struct FluxSystem {
        /// Whether the root refers to `./flux-system`.
        enabled: bool [flag(true)];
    }

    /// Applications of the customer, from a repository of their own.
    struct CustomerManaged {
        /// Whether the layer is rendered.
        enabled: bool [flag(false)];
        /// Name of the Git source, and of its file.
        repository_name: Option<String> [required, missing(Code::Oc4001), format(Format::DnsLabel), code(Code::Oc4002)];
        /// Address of the repository; ssh or https.
        repository_url: Option<String> [required, missing(Code::Oc4003)];
        /// Branch to follow.
        branch: String [word("main"), format(Format::GitRef)];
        /// Interval of source and units alike.
        interval: Option<String> [rule("15m for the source, 5m for the units"), format(Format::Duration)];
        /// Put in front of the names of the units.
        flux_name_prefix: Option<String> [format(Format::DnsLabel)];
        /// Secret with which Flux reads the repository.
        secret_name: Option<String> [format(Format::DnsName)];
        /// Entry of `secrets.customer_managed` with the keys.
        secret_ref: Option<String>;
        /// Whether the Secret is part of the tree.
        emit_secret: Option<bool> [rule("true if `secret_ref` is set")];
        /// What Flux applies from the repository, in order.
        kustomizations: Vec<CustomerKustomization> [required, missing(Code::Oc4007)];
    }

    /// One part of the customer's repository.
    struct CustomerKustomization {
        /// Name of the Flux unit.
        name: Option<String> [required, missing(Code::Oc4008), format(Format::DnsName)];
        /// Path in the repository, starting with a slash.
        path: Option<String> [required, missing(Code::Oc4009), format(Format::Line)];
        /// Units that must be ready before; absent means the sources.
        depends_on: Option<Vec<String>> [rule("`[customer-managed-sources]`"), format(Format::DnsName)];
    }

    /// Rules for SOPS in the tree.
    struct SopsUnit {
        /// Whether `.sops.yaml` is rendered.
        enabled: bool [flag(false)];
        /// The rules; the first that matches a path wins.
        rules: Vec<SopsRule> [required, missing(Code::Oc4021)];
    }

    /// One rule for SOPS.
    struct SopsRule {
        /// Regular expression over paths relative to the overlay.
        path_regex: Option<String> [required, missing(Code::Oc4022)];
        /// Age recipients that can decrypt.
        age_recipients: Vec<String> [required, missing(Code::Oc4023)];
        /// Regular expression over the keys whose values are encrypted.
        encrypted_regex: Option<String>;
    }
}

choice! {
    /// The Git service that issued a token.
    enum TokenProvider {
        /// GitHub.
        Github = "github",
        /// GitLab.
        Gitlab = "gitlab",
        /// Gitea and Forgejo.
        Gitea = "gitea",
    }
}
