//! What each infrastructure provider offers: DNS services and object stores.

use super::{DnsProvider, Provider, StorageType};

/// The DNS service that a new config gets.
pub fn default_dns_provider(provider: Provider, uses_designate: bool) -> DnsProvider {
    match provider {
        Provider::Openstack if uses_designate => DnsProvider::Designate,
        Provider::Aws => DnsProvider::Route53,
        Provider::Gcp => DnsProvider::Clouddns,
        Provider::Azure => DnsProvider::Azuredns,
        Provider::Openstack | Provider::Baremetal | Provider::Vmware | Provider::Kind => {
            DnsProvider::Cloudflare
        }
    }
}

/// The object store that a new config gets.
pub fn default_storage_type(provider: Provider) -> StorageType {
    match provider {
        Provider::Openstack => StorageType::Swift,
        Provider::Gcp => StorageType::Gcs,
        Provider::Azure => StorageType::Azure,
        Provider::Aws | Provider::Baremetal | Provider::Vmware | Provider::Kind => StorageType::S3,
    }
}

/// The DNS services that may be chosen.
pub fn dns_providers(provider: Provider) -> &'static [DnsProvider] {
    match provider {
        Provider::Aws => &[DnsProvider::Route53, DnsProvider::Cloudflare],
        Provider::Openstack => &[DnsProvider::Designate, DnsProvider::Cloudflare],
        Provider::Gcp => &[DnsProvider::Clouddns, DnsProvider::Cloudflare],
        Provider::Azure => &[DnsProvider::Azuredns, DnsProvider::Cloudflare],
        Provider::Baremetal | Provider::Vmware | Provider::Kind => &[DnsProvider::Cloudflare],
    }
}

/// The object stores that may be chosen for a service.
pub fn storage_types(service: &str, provider: Provider) -> &'static [StorageType] {
    match provider {
        Provider::Openstack => &[StorageType::Swift, StorageType::S3],
        Provider::Gcp if service == "loki" => &[StorageType::Gcs, StorageType::S3],
        Provider::Gcp => &[StorageType::Gcs],
        Provider::Azure if service == "loki" => &[StorageType::Azure, StorageType::S3],
        Provider::Azure => &[StorageType::Azure],
        Provider::Aws | Provider::Baremetal | Provider::Vmware | Provider::Kind => {
            &[StorageType::S3]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_what_it_proposes() {
        for word in Provider::WORDS {
            let provider = Provider::from_word(word).unwrap();
            for designate in [false, true] {
                assert!(
                    dns_providers(provider).contains(&default_dns_provider(provider, designate)),
                    "{word}"
                );
            }
            for service in ["loki", "tempo", "velero"] {
                assert!(
                    storage_types(service, provider).contains(&default_storage_type(provider)),
                    "{word}"
                );
            }
        }
    }
}
