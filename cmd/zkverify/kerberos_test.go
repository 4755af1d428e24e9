package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// With --auth-file the commands authenticate by Kerberos. An error ends them, and its message
// gives advice.
func TestCommandsAuthenticateByKerberos(t *testing.T) {
	k := ensembletest.StartKDC(t, "udp_preference_limit = 1")
	ensembletest.Real(t, "ZooKeeper checks the tickets")
	t.Parallel()
	server := ensembletest.Start(t, k.Demand("zookeeper/localhost", k.Principal("zookeeper/localhost"))).Servers()[0].Addr
	_, port, err := net.SplitHostPort(server)
	if err != nil {
		t.Fatal(err)
	}
	keytab, conf := k.Principal("app"), k.Krb5Conf(k.Addr)
	cache, expired := k.Kinit(keytab, "app", "1h"), k.Kinit(keytab, "app", "1s")
	expires := time.After(2 * time.Second)                   // the KDC counts in seconds
	everything := os.Getenv(ensembletest.Variable) == "real" // make test-real
	// command runs one of the commands with settings in the file.
	command := func(t *testing.T, settings string, args ...string) (status int, said string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(file, []byte("sasl:gssapi:"+settings+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		status, said, _ = inProcess(t, append(args, "--auth-file", file)...)
		showsNoKey(t, said, keytab)
		return status, said
	}
	const principal = " serverprincipal=zookeeper/localhost"

	for name, test := range map[string]struct{ servers, settings string }{
		"a keytab, and a server by its name":                {"localhost:" + port, "keytab=" + keytab},
		"a credential cache, and a server by its address":   {server, "ccache=" + cache + principal},
		"a keytab with a principal, and a server's service": {"localhost:" + port, "keytab=" + keytab + " principal=app service=zookeeper"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, said := command(t, test.settings+" krb5conf="+conf, "locks", "ls", "/", "--servers", test.servers); status != 0 {
				t.Errorf("exit status %d: %s", status, said)
			}
		})
	}
	for name, args := range map[string][]string{"a run": {"run"}, "a run, in workers": {"run", "--workers", "1"}, "a night": {"nightly", "--seeds", "1"}} {
		t.Run(name, func(t *testing.T) {
			if !everything {
				t.Skip("make test-real has it")
			}
			out := filepath.Join(t.TempDir(), "out")
			status, said := command(t, "keytab="+keytab+principal+" krb5conf="+conf, append(args, "--servers", server, "--duration", "500ms", "--seed", "3", "--out", out)...)
			if status != 0 && status != exitUnknown || strings.Contains(said, "did not run") {
				t.Errorf("exit status %d: %s", status, said)
			}
			for _, secret := range keysOf(t, keytab) {
				if in := holding(t, out, secret); len(in) > 0 {
					t.Errorf("a key is in %v", in)
				}
			}
		})
	}

	<-expires
	foreign := k.Principal("app@OTHER.TEST")
	type refusal struct {
		settings string
		says     []string
	}
	refusals := map[string]refusal{
		"a ticket that has expired":            {"ccache=" + expired + principal + " krb5conf=" + conf, []string{expired, "has expired at", "run kinit"}},
		"a server that the KDC does not know":  {"keytab=" + keytab + " krb5conf=" + conf, []string{"knows no server zookeeper/127.0.0.1", "ServerPrincipal"}},
		"a realm that krb5.conf does not have": {"keytab=" + foreign + principal + " krb5conf=" + conf, []string{"names no KDC of the realm OTHER.TEST"}},
		"a realm that is not the KDC's": {
			"keytab=" + foreign + principal + " krb5conf=" + k.Write("other.conf", strings.ReplaceAll(k.Read(conf), ensembletest.Realm, "OTHER.TEST")), []string{"the KDC of OTHER.TEST is that of another realm"}},
	}
	if everything {
		skewed := ensembletest.StartKDC(t, "udp_preference_limit = 1", "clockskew = 1")
		refusals["a clock that the KDC does not share"] = refusal{
			"ccache=" + skewed.Kinit(skewed.Principal("app"), "app", "1h") + principal + " krb5conf=" + skewed.Krb5Conf(late(t, skewed.Addr)),
			[]string{"the clocks of this machine and of the KDC differ", "set them right"}}
		refusals["a KDC that is away"] = refusal{"keytab=" + keytab + principal + " krb5conf=" + k.Krb5Conf("127.0.0.1:1"), []string{"the KDC of " + ensembletest.Realm, "connection refused"}}
		refusals["a KDC that is silent"] = refusal{"keytab=" + keytab + principal + " krb5conf=" + k.Krb5Conf(late(t, "")), []string{"the KDC does not answer in time", "krb5.conf"}}
	}
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"locks", "ls", "/", "--timeout", "4s"}, {"run", "--duration", "1s", "--out", filepath.Join(t.TempDir(), "run")}} {
				status, said := command(t, test.settings, append(args, "--servers", server)...)
				t.Logf("exit status %d: %s", status, said)
				if status != exitUnavailable && status != exitUnknown {
					t.Errorf("%s: exit status %d", args[0], status)
				}
				for _, want := range test.says {
					if !strings.Contains(said, want) {
						t.Errorf("%s does not say %q", args[0], want)
					}
				}
			}
		})
	}
}

// keysOf returns the forms that a keytab's last key may have in a text. The key's bytes stand
// before its number in the keytab.
func keysOf(t *testing.T, keytab string) []string {
	t.Helper()
	all, err := os.ReadFile(keytab)
	if err != nil || len(all) < 36 {
		t.Fatalf("a keytab of %d bytes: %v", len(all), err)
	}
	key := all[len(all)-36 : len(all)-4]
	return []string{string(key), hex.EncodeToString(key), base64.StdEncoding.EncodeToString(key)}
}

func showsNoKey(t *testing.T, said, keytab string) {
	t.Helper()
	for _, key := range keysOf(t, keytab) {
		if bytes.Contains([]byte(said), []byte(key)) {
			t.Errorf("it says a key:\n%s", said)
		}
	}
}

// late returns the address of a relay that passes each request to a KDC more than two seconds
// late; if kdc is "", never.
func late(t *testing.T, kdc string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if kdc == "" {
				continue
			}
			go func() { // ends with the connection
				defer client.Close()
				time.Sleep(2100 * time.Millisecond)
				server, err := net.Dial("tcp", kdc)
				if err != nil {
					return
				}
				defer server.Close()
				go func() { _, _ = io.Copy(server, client) }()
				_, _ = io.Copy(client, server)
			}()
		}
	}()
	return l.Addr().String()
}
