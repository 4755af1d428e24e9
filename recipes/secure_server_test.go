package recipes_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
	next int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of " + t.Name()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 1}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// sign returns the PEM blocks of a key and its certificate, for a name and the loopback address.
func (a *authority) sign(t *testing.T, name string) (key, cert []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.next++
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(a.next), Subject: pkix.Name{CommonName: name},
		DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// client returns the TLS configuration of a client that trusts the authority
// and is signed by it.
func (a *authority) client(t *testing.T) *tls.Config {
	t.Helper()
	key, cert := a.sign(t, "client.test")
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{pair}}
}

// secureServer starts a ZooKeeper server of its own that serves TLS, and asks
// clients for a certificate. Its own is for zk.test and 127.0.0.1. It returns
// the address of the secure port. Properties are system properties of its JVM, name=value each.
func secureServer(t *testing.T, ca *authority, properties ...string) string {
	t.Helper()
	needServers(t)
	java, err := ensemble.FindJava("")
	if err != nil {
		t.Fatal(err)
	}
	class, err := ensemble.FindZooKeeper("")
	if err != nil {
		t.Fatal(err)
	}
	// The manifest of Debian's jar names only some of the jars that TLS needs.
	more, err := filepath.Glob("/usr/share/java/netty-*.jar")
	if err != nil {
		t.Fatal(err)
	}
	class = strings.Join(append([]string{class}, more...), string(filepath.ListSeparator))
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, cert := ca.sign(t, "zk.test")
	keys, trust := write("keys.pem", append(key, cert...)), write("trust.pem", ca.pem)
	plain, secure := freePort(t), freePort(t)
	cfg := write("zoo.cfg", fmt.Appendf(nil, `tickTime=%d
minSessionTimeout=500
maxSessionTimeout=60000
dataDir=%s
clientPort=%d
secureClientPort=%d
clientPortAddress=127.0.0.1
secureClientPortAddress=127.0.0.1
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.location=%s
ssl.trustStore.location=%s
admin.enableServer=false
4lw.commands.whitelist=*
`, tick.Milliseconds(), dir, plain, secure, keys, trust))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// The shell ends the server when the pipe closes: also when this process
	// is killed.
	args := []string{"-c", `"$@" & cat >/dev/null; kill -9 $!; wait $!`, "sh", java, "-Xms32m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
	for _, property := range properties {
		args = append(args, "-D"+property)
	}
	cmd := exec.Command("sh", append(args, "-cp", class, "org.apache.zookeeper.server.quorum.QuorumPeerMain", cfg)...)
	cmd.Stdout, cmd.Stderr = log, log
	alive, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		alive.Close()
		_ = cmd.Wait() // the shell exits with the status of the killed server
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the server's log:\n%s", text)
		}
	})
	eventually(t, "the server serves", func() bool {
		status, _, err := ensemble.AskStatus(context.Background(), ensemble.Server{Addr: loopback(plain)})
		return err == nil && status.Serving()
	})
	return loopback(secure)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort returns a port that had no listener a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
