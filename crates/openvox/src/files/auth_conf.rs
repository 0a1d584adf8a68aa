//! `auth.conf`: who may call what.

use mainstay_api::openvox::config::AuthorizationRule;

use super::{Lines, number_or, or};
use crate::{names, quote};

/// Who may.
#[derive(Clone, Copy, Debug)]
pub(super) enum Permission<'rule> {
    /// Everybody, known or not.
    Unauthenticated,
    /// Whoever the expression names.
    Allow(&'rule str),
    /// Nobody whom the expression names.
    Deny(&'rule str),
    /// Whoever administers the authority: by an extension of its certificate, and the operator by its name.
    Administrator(Option<&'rule str>),
    /// The rule does not say.
    Unsaid,
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule<'rule, Method: AsRef<str> = &'static str> {
    pub(super) path: &'rule str,
    pub(super) kind: &'rule str,
    pub(super) methods: &'rule [Method],
    pub(super) permission: Permission<'rule>,
    pub(super) sort_order: i32,
    pub(super) name: &'rule str,
}

const BUILT_IN_ORDER: i32 = 500;

const GET: &[&str] = &["get"];
const POST: &[&str] = &["post"];
const PUT: &[&str] = &["put"];
const GET_POST: &[&str] = &["get", "post"];

/// Rules of the server program, with its own names and in its own order. `Administrator` gets the operator's name later.
#[rustfmt::skip]
const BUILT_IN: [(&str, &str, &[&str], Permission<'static>, &str); 26] = [
    ("^/puppet/v3/catalog/([^/]+)$", "regex", GET_POST, Permission::Allow("$1"), "puppetlabs v3 catalog from agents"),
    ("^/puppet/v4/catalog/?$", "regex", POST, Permission::Deny("*"), "puppetlabs v4 catalog for services"),
    ("/puppet-ca/v1/certificate/", "path", GET, Permission::Unauthenticated, "puppetlabs certificate"),
    ("/puppet-ca/v1/certificate_revocation_list/ca", "path", GET, Permission::Unauthenticated, "puppetlabs crl"),
    ("/puppet-ca/v1/certificate_request", "path", &["get", "put"], Permission::Unauthenticated, "puppetlabs csr"),
    ("/puppet-ca/v1/certificate_renewal", "path", POST, Permission::Allow("*"), "puppetlabs certificate renewal"),
    ("/puppet-ca/v1/certificate_status", "path", &["get", "put", "delete"], Permission::Administrator(None), "puppetlabs cert status"),
    ("^/puppet-ca/v1/certificate_revocation_list$", "regex", PUT, Permission::Administrator(None), "puppetlabs CRL update"),
    ("/puppet-ca/v1/certificate_statuses", "path", GET, Permission::Administrator(None), "puppetlabs cert statuses"),
    ("/puppet-ca/v1/expirations", "path", GET, Permission::Allow("*"), "puppetlabs CA cert and CRL expirations"),
    ("/puppet-ca/v1/clean", "path", PUT, Permission::Administrator(None), "puppetlabs cert clean"),
    ("/puppet-ca/v1/sign", "path", POST, Permission::Administrator(None), "puppetlabs cert sign"),
    ("/puppet-ca/v1/sign/all", "path", POST, Permission::Administrator(None), "puppetlabs cert sign all"),
    ("^/puppet/v3/resource_type/([^/]+)$", "regex", GET_POST, Permission::Allow("*"), "puppetlabs resource type"),
    ("^/puppet/v3/status/([^/]+)$", "regex", GET, Permission::Allow("$1"), "puppetlabs status"),
    ("/status/v1/services", "path", GET, Permission::Unauthenticated, "puppetlabs status service - full"),
    ("/status/v1/simple", "path", GET, Permission::Unauthenticated, "puppetlabs status service - simple"),
    ("/puppet/v3/environments", "path", GET, Permission::Allow("*"), "puppetlabs environments"),
    ("/puppet/v3/file_bucket_file", "path", &["get", "head", "post", "put"], Permission::Allow("*"), "puppetlabs file bucket file"),
    ("/puppet/v3/file_content", "path", GET_POST, Permission::Allow("*"), "puppetlabs file content"),
    ("/puppet/v3/file_metadata", "path", GET_POST, Permission::Allow("*"), "puppetlabs file metadata"),
    ("^/puppet/v3/node/([^/]+)$", "regex", GET, Permission::Allow("$1"), "puppetlabs node"),
    ("^/puppet/v3/report/([^/]+)$", "regex", PUT, Permission::Allow("$1"), "puppetlabs report"),
    ("^/puppet/v3/facts/([^/]+)$", "regex", PUT, Permission::Allow("$1"), "puppetlabs facts"),
    ("/puppet/v3/static_file_content", "path", GET, Permission::Allow("*"), "puppetlabs static file content"),
    ("/puppet/v3/tasks", "path", &[], Permission::Allow("*"), "puppet tasks information"),
];

/// The rule that refuses everything else.
pub(super) const DENY_ALL: Rule<'static> = Rule {
    path: "/",
    kind: "path",
    methods: &[],
    permission: Permission::Deny("*"),
    sort_order: 999,
    name: "puppetlabs deny all",
};

/// `auth.conf` with further rules. `authority` is the one that the operator administers.
pub fn auth_conf(rules: &[AuthorizationRule], authority: Option<&str>) -> String {
    let operator = authority.map(names::operator_certname);
    let mut file = AuthConf::begin();
    for (path, kind, methods, permission, name) in BUILT_IN {
        let permission = match permission {
            Permission::Administrator(_) => Permission::Administrator(operator.as_deref()),
            other => other,
        };
        file.rule(&Rule {
            path,
            kind,
            methods,
            permission,
            sort_order: BUILT_IN_ORDER,
            name,
        });
    }
    for rule in rules {
        file.rule(&Rule {
            path: &rule.match_request.path,
            kind: or(rule.match_request.match_type.as_str(), "path"),
            methods: &rule.match_request.method,
            permission: permission(rule),
            sort_order: number_or(rule.sort_order, BUILT_IN_ORDER),
            name: &rule.name,
        });
    }
    file.end()
}

fn permission(rule: &AuthorizationRule) -> Permission<'_> {
    if rule.allow_unauthenticated {
        Permission::Unauthenticated
    } else if !rule.allow.is_empty() {
        Permission::Allow(&rule.allow)
    } else if !rule.deny.is_empty() {
        Permission::Deny(&rule.deny)
    } else {
        Permission::Unsaid
    }
}

/// The file while it is written.
pub(super) struct AuthConf(Lines);

impl AuthConf {
    pub(super) fn begin() -> Self {
        let mut lines = Lines::default();
        lines.line("authorization: {");
        lines.line("    version: 1");
        lines.line("    rules: [");
        Self(lines)
    }

    pub(super) fn rule<Method: AsRef<str>>(&mut self, rule: &Rule<'_, Method>) {
        self.body(rule);
        self.0.line("        },");
    }

    /// The last rule refuses everything else.
    pub(super) fn end(mut self) -> String {
        self.body(&DENY_ALL);
        self.0.line("        }");
        self.0.line("    ]");
        self.0.line("}");
        self.0.0
    }

    fn body<Method: AsRef<str>>(&mut self, rule: &Rule<'_, Method>) {
        let lines = &mut self.0;
        lines.line("        {");
        lines.line("            match-request: {");
        lines.line(format!("                path: {}", quote::go(rule.path)));
        lines.line(format!("                type: {}", rule.kind));
        match rule.methods {
            [] => {}
            [one] => lines.line(format!("                method: {}", one.as_ref())),
            several => {
                let several: Vec<&str> = several.iter().map(AsRef::as_ref).collect();
                lines.line(format!("                method: [{}]", several.join(", ")));
            }
        }
        lines.line("            }");
        write_permission(lines, rule.permission);
        lines.line(format!("            sort-order: {}", rule.sort_order));
        lines.line(format!("            name: {}", quote::go(rule.name)));
    }
}

fn write_permission(lines: &mut Lines, permission: Permission<'_>) {
    match permission {
        Permission::Unauthenticated => lines.line("            allow-unauthenticated: true"),
        Permission::Allow(whom) => lines.line(format!("            allow: {}", quote::go(whom))),
        Permission::Deny(whom) => lines.line(format!("            deny: {}", quote::go(whom))),
        // Parity: the odd indentation, which the hash of the file depends on.
        Permission::Administrator(None) => {
            lines.line("            allow: {");
            lines.line("               extensions: {");
            lines.line("                   pp_cli_auth: \"true\"");
            lines.line("               }");
            lines.line("            }");
        }
        Permission::Administrator(Some(operator)) => {
            lines.line("            allow: [");
            lines.line("                {");
            lines.line("                    extensions: {");
            lines.line("                        pp_cli_auth: \"true\"");
            lines.line("                    }");
            lines.line("                },");
            lines.line(format!("                {}", quote::go(operator)));
            lines.line("            ]");
        }
        Permission::Unsaid => {}
    }
}
