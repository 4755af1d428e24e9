package locks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a certificate for loopback that signs itself, and its key, to a file.
func certificate(t *testing.T) (file string, pair tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: t.Name()}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, private := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	file = filepath.Join(t.TempDir(), "pair.pem")
	if err := os.WriteFile(file, append(cert, private...), 0o600); err != nil {
		t.Fatal(err)
	}
	if pair, err = tls.X509KeyPair(cert, private); err != nil {
		t.Fatal(err)
	}
	return file, pair
}

// secure puts TLS in front of a server, as its secureClientPort does: clients show a
// certificate.
func secure(t *testing.T, server string, pair tls.Certificate) string {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer near.Close()
				far, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer far.Close()
				go func() {
					_, _ = io.Copy(far, near)
					_ = far.Close()
				}()
				_, _ = io.Copy(near, far)
			}()
		}
	}()
	return l.Addr().String()
}

func TestLocksOverTLS(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "web-1")
	file, pair := certificate(t)
	b.addrs = secure(t, strings.Split(b.addrs, ",")[0], pair)
	a := b.locks("inspect", "--tls-ca", file, "--tls-cert", file, "/l")
	// The four-letter words went through TLS, too.
	a.want(t, 0, []string{"web-1", "mutex, 1 holder"}, nil)
	if strings.Contains(a.out, "does not tell") {
		t.Errorf("a server was not asked:\n%s", a.out)
	}
	for _, args := range [][]string{
		{"ls", "/l"},                     // no TLS at all
		{"ls", "--tls", "/l"},            // a server whose certificate no authority has signed
		{"ls", "--tls-ca", file, "/l"},   // no client certificate
		{"ls", "--tls-cert", file, "/l"}, // no trusted authority either
	} {
		args = append(args, "--timeout", "300ms")
		if a := b.locks(args...); a.status != exitUnavailable {
			t.Errorf("%v: exit status %d\n%s%s", args, a.status, a.out, a.err)
		}
	}
}
