//! The realm, its client, groups and first user.

use mainstay_yaml::Node;

use crate::{
    flux::{list, map},
    render::{Context, decision},
    service::manifest::filled,
};

use super::{BuildResult, Built, Emitted, Keycloak, namespace, settings};

/// The group that new users are in.
const DEFAULT_GROUP: &str = "read-only";
const ADMIN_GROUP: &str = "cluster-admins";
const GROUPS: [&str; 5] = [
    ADMIN_GROUP,
    "observability",
    "platform-team",
    "security-team",
    DEFAULT_GROUP,
];

/// Imports the realm. Holds the first password, so the file is secret.
pub(super) fn import(ctx: &Context<'_>, _: &Emitted<'_>) -> BuildResult {
    let settings = settings(ctx)?;
    let gate = decision(
        "opencenter.services.keycloak.realm_import_enabled",
        settings.realm_import_enabled,
    );
    if !gate.result {
        return Ok(Built::Skipped(gate));
    }
    let password = ctx.required_secret(
        ctx.config.secrets.keycloak.admin_password.as_ref(),
        "keycloak",
        "secrets.keycloak.admin_password",
    )?;
    let frontend = filled(settings.frontend_url.as_ref())
        .map_or_else(|| format!("https://{}", settings.hostname), str::to_owned);
    Ok(Built::one(map! {
        "apiVersion": "k8s.keycloak.org/v2alpha1",
        "kind": "KeycloakRealmImport",
        "metadata": map! { "name": "opencenter-realm", "namespace": namespace(ctx) },
        "spec": map! {
            "keycloakCRName": "keycloak",
            "realm": map! {
                "id": &settings.realm,
                "realm": &settings.realm,
                "enabled": true,
                "displayName": &settings.realm,
                "sslRequired": "external",
                "bruteForceProtected": true,
                "passwordPolicy":
                    "length(12) and upperCase(1) and lowerCase(1) and digits(1) and specialChars(1)",
                "attributes": map! { "frontendUrl": frontend },
                "smtpServer": mail(settings),
                "clients": list![client(settings)],
                "groups": groups(settings),
                "defaultGroups": list![format!("/{DEFAULT_GROUP}")],
                "users": list![first_user(settings, password)],
            },
        },
    }))
}

/// Keycloak takes these as texts, numbers and booleans included.
fn mail(settings: &Keycloak) -> Node {
    let Some(host) = filled(settings.smtp_host.as_ref()) else {
        return Node::Absent;
    };
    map! {
        "host": host,
        "port": settings.smtp_port.to_string(),
        "from": filled(settings.smtp_from.as_ref()),
        "starttls": settings.smtp_starttls.to_string(),
    }
}

fn client(settings: &Keycloak) -> Node {
    let anywhere = || list!["http://*", "https://*"];
    map! {
        "clientId": &settings.client_id,
        "name": "openCenter Cluster",
        "description": "OIDC client for Kubernetes API authentication",
        "enabled": true,
        "publicClient": true,
        "standardFlowEnabled": true,
        "directAccessGrantsEnabled": true,
        "protocol": "openid-connect",
        "attributes": map! { "pkce.code.challenge.method": "" },
        "redirectUris": anywhere(),
        "webOrigins": anywhere(),
        "protocolMappers": list![
            mapper("groups", "oidc-group-membership-mapper", map! {
                "claim.name": "groups",
                "full.path": "false",
                "id.token.claim": "true",
                "access.token.claim": "true",
                "userinfo.token.claim": "true",
            }),
            mapper("audience", "oidc-audience-mapper", map! {
                "included.client.audience": "kubernetes",
                "id.token.claim": "true",
                "access.token.claim": "true",
            }),
            mapper("email", "oidc-usermodel-property-mapper", map! {
                "usermodel.attribute": "email",
                "claim.name": "email",
                "id.token.claim": "true",
                "access.token.claim": "true",
            }),
        ],
    }
}

fn mapper(name: &str, kind: &str, config: Node) -> Node {
    map! {
        "name": name,
        "protocol": "openid-connect",
        "protocolMapper": kind,
        "consentRequired": false,
        "config": config,
    }
}

fn groups(settings: &Keycloak) -> Node {
    let more = settings
        .realm_groups
        .iter()
        .map(String::as_str)
        .filter(|group| !GROUPS.contains(group));
    Node::list(
        GROUPS
            .into_iter()
            .chain(more)
            .map(|group| map! { "name": group, "path": format!("/{group}") }),
    )
}

fn first_user(settings: &Keycloak, password: String) -> Node {
    map! {
        "username": "oc.admin",
        "enabled": true,
        "email": filled(settings.realm_admin_email.as_ref()).unwrap_or("mpk-support@rackspace.com"),
        "emailVerified": true,
        "firstName": "Admin",
        "lastName": "User",
        "groups": list![format!("/{ADMIN_GROUP}")],
        "credentials": list![map! { "type": "password", "temporary": true, "value": password }],
    }
}
