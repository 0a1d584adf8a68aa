// Command pki writes the certificates and keys of one throw-away control plane into a directory.
//
//	pki --dir DIR [--client NAME[:GROUP]]...
//
// It always writes ca, apiserver and admin (in system:masters) as NAME.crt and NAME.key, and sa.key, the key that
// signs service account tokens. Every certificate is X.509 version 3: rustls, which kube-rs uses, refuses version 1.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A plane lives for hours; a year leaves room for one that somebody keeps for demonstrations.
const validity = 365 * 24 * time.Hour

// client is the identity of one user of the API: certificate common name and, if set, organization.
type client struct {
	name  string
	group string
}

// clients collects the values of the repeatable flag --client.
type clients []client

func (c *clients) String() string { return fmt.Sprint(*c) }

// Set parses NAME[:GROUP]. Only the first colon separates, because groups such as system:masters contain one.
func (c *clients) Set(value string) error {
	name, group, _ := strings.Cut(value, ":")
	if name == "" || name != filepath.Base(name) {
		return fmt.Errorf("%q is not NAME[:GROUP]", value)
	}
	*c = append(*c, client{name: name, group: group})
	return nil
}

func main() {
	wanted := clients{{name: "admin", group: "system:masters"}}
	directory := flag.String("dir", "", "directory to write to; created if absent")
	flag.Var(&wanted, "client", "further client certificate, as NAME[:GROUP]; repeatable")
	flag.Parse()
	if *directory == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*directory, wanted); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(directory string, wanted clients) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	authority, err := newAuthority(directory)
	if err != nil {
		return fmt.Errorf("could not make the certificate authority: %w", err)
	}
	if err := authority.issue("apiserver", servingTemplate()); err != nil {
		return fmt.Errorf("could not issue the serving certificate: %w", err)
	}
	for _, c := range wanted {
		if err := authority.issue(c.name, clientTemplate(c)); err != nil {
			return fmt.Errorf("could not issue the client certificate of %s: %w", c.name, err)
		}
	}
	// kube-apiserver takes RSA and ECDSA here; RSA is what clusters in the field use.
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("could not make the service account key: %w", err)
	}
	return writeKey(filepath.Join(directory, "sa.key"), key)
}

func servingTemplate() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		// 10.0.0.1 is the first address of the service range: the ClusterIP of the service "kubernetes".
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1), net.IPv6loopback},
		DNSNames: []string{
			"localhost",
			"kubernetes",
			"kubernetes.default",
			"kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
		},
	}
}

func clientTemplate(c client) *x509.Certificate {
	subject := pkix.Name{CommonName: c.name}
	if c.group != "" {
		subject.Organization = []string{c.group}
	}
	return &x509.Certificate{Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}

// authority signs certificates and writes them beside its own.
type authority struct {
	directory   string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(directory string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "mainstay-control-plane"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	if err := stamp(template); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	result := &authority{directory: directory, certificate: certificate, key: key}
	return result, result.writePair("ca", der, key)
}

// issue makes a key, signs the template for it and writes both.
func (a *authority) issue(name string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if err := stamp(template); err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	return a.writePair(name, der, key)
}

func (a *authority) writePair(name string, der []byte, key crypto.Signer) error {
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return errors.Join(
		os.WriteFile(filepath.Join(a.directory, name+".crt"), block, 0o644),
		writeKey(filepath.Join(a.directory, name+".key"), key),
	)
}

// stamp sets what every certificate has: a random serial number and its time of validity.
func stamp(template *x509.Certificate) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	// Clocks of a host and its virtual machines differ by seconds.
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = time.Now().Add(validity)
	return nil
}

func writeKey(path string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}
