//! The TLS identity of the server, and both ends' configurations, made once per process.
//!
//! The key is new in every process; nothing that a run measures depends on its bits, only on sizes.
//! Ed25519 signatures and keys have a fixed size (those of ECDSA vary by a byte or two), the serial
//! number is fixed, and session tickets are off, so that no connection resumes an earlier one.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::RootCertStore;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::PrivatePkcs8KeyDer;

/// The server's name in its certificate.
pub(in crate::live) const SERVER_NAME: &str = "server.invalid";

/// TLS configurations of both ends.
pub(in crate::live) struct Identity {
    client: Arc<rustls::ClientConfig>,
    server: Arc<rustls::ServerConfig>,
}

const FITS: &str = "the suite fits QUIC";

/// The identity of this process.
pub(in crate::live) fn identity() -> &'static Identity {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    IDENTITY.get_or_init(Identity::new)
}

impl Identity {
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("ring makes Ed25519 keys");
        let mut params =
            CertificateParams::new([SERVER_NAME.to_owned()]).expect("the name is a valid DNS name");
        params.serial_number = Some(1_u64.into());
        let certificate =
            params.self_signed(&key).expect("the parameters are complete").der().clone();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());

        // One cipher suite, the cheapest, which QUIC's first packets need as well.
        let all = ring::default_provider();
        let cipher_suites = vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256];
        let provider = Arc::new(CryptoProvider { cipher_suites, ..all });
        let tls13 = &[&rustls::version::TLS13];

        let mut server = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(tls13)
            .expect("the provider has a TLS 1.3 suite")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .expect("the key belongs to the certificate");
        server.send_tls13_tickets = 0;

        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("the certificate can be parsed");
        let mut client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(tls13)
            .expect("the provider has a TLS 1.3 suite")
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.resumption = Resumption::disabled();

        Self { client: Arc::new(client), server: Arc::new(server) }
    }

    /// For a client of quinn or noq.
    pub(in crate::live) fn client<C>(&self) -> Arc<C>
    where
        C: TryFrom<Arc<rustls::ClientConfig>, Error: Debug>,
    {
        Arc::new(self.client.clone().try_into().expect(FITS))
    }

    /// For a server of quinn or noq.
    pub(in crate::live) fn server<C>(&self) -> Arc<C>
    where
        C: TryFrom<Arc<rustls::ServerConfig>, Error: Debug>,
    {
        Arc::new(self.server.clone().try_into().expect(FITS))
    }
}
