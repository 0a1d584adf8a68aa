//! Rules about the config.

use std::collections::BTreeSet;

use crate::{
    catalog::CATALOG,
    config::{ListenerProtocol, Validator, path},
    finding::Code,
};

pub(super) fn check(validator: &mut Validator<'_>) {
    let Some(service) = &validator.config.services().gateway else {
        return;
    };
    let generated = CATALOG.iter().filter_map(|entry| entry.listeners);
    let generated: BTreeSet<&str> = generated
        .flat_map(|listeners| listeners.names)
        .copied()
        .collect();
    let list = "opencenter.services.gateway.listeners";
    let mut names = BTreeSet::new();
    let mut sockets = BTreeSet::new();
    for (index, listener) in service.settings.listeners.iter().enumerate() {
        let place = path::item(list, index);
        if let Some(name) = listener.name.as_deref()
            && (generated.contains(name) || !names.insert(name))
        {
            let message = "the name of the listener is taken";
            validator.report_text(Code::Oc3157, format!("{place}.name"), message, name);
        }
        if listener.protocol == Some(ListenerProtocol::Https) && listener.tls_secret_name.is_none()
        {
            let message = "an HTTPS listener needs `tls_secret_name`";
            validator.report(Code::Oc3158, format!("{place}.tls_secret_name"), message);
        }
        let socket = (
            listener.port,
            listener.protocol,
            listener.hostname.as_deref(),
        );
        if listener.port.is_some() && !sockets.insert(socket) {
            let message = "another listener has the same port, protocol and host name";
            validator.report(Code::Oc3159, place, message);
        }
    }
}
