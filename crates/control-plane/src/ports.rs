//! Free loopback ports.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
};

use serde::{Deserialize, Serialize};

/// The ports of one plane, all on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ports {
    /// The Kubernetes API, HTTPS.
    pub apiserver: u16,
    /// etcd for clients, HTTP.
    pub etcd: u16,
    /// etcd for peers, of which there are none.
    pub etcd_peer: u16,
    /// Health and metrics of kube-controller-manager, HTTPS.
    pub controller_manager: u16,
    /// Health and metrics of kube-scheduler, HTTPS.
    pub scheduler: u16,
    /// The kubelet API that KWOK plays.
    pub kwok: u16,
}

impl Ports {
    /// Asks the kernel for ports that nobody uses.
    ///
    /// All are held until the last one is known, so they differ from each other. Between here and the component's own
    /// bind another process may take one; the supervisor then starts over with new ports.
    pub fn choose() -> io::Result<Self> {
        let mut held = Vec::new();
        let mut next = || -> io::Result<u16> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = listener.local_addr()?.port();
            held.push(listener);
            Ok(port)
        };
        Ok(Self {
            apiserver: next()?,
            etcd: next()?,
            etcd_peer: next()?,
            controller_manager: next()?,
            scheduler: next()?,
            kwok: next()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all(ports: Ports) -> BTreeSet<u16> {
        BTreeSet::from([
            ports.apiserver,
            ports.etcd,
            ports.etcd_peer,
            ports.controller_manager,
            ports.scheduler,
            ports.kwok,
        ])
    }

    #[test]
    fn chooses_six_different_ports() {
        let ports = all(Ports::choose().unwrap());
        assert_eq!(ports.len(), 6);
        assert!(!ports.contains(&0));
    }

    #[test]
    fn avoids_a_port_in_use() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        for _ in 0..50 {
            assert!(!all(Ports::choose().unwrap()).contains(&port));
        }
    }
}
