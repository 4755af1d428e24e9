package ensembletest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// Realm is the realm of a KDC.
const Realm = "ZKVERIFY.TEST"

// KDC is a Kerberos KDC on loopback, for one test.
type KDC struct {
	Addr string // for TCP and UDP

	t        *testing.T
	dir      string
	settings string
	env      []string
}

// StartKDC starts a KDC whose tickets last as long as clients ask for, and ends it when t
// ends. Without the programs of a KDC the test is skipped. Settings are lines of
// libdefaults, for the KDC and its clients.
func StartKDC(t *testing.T, settings ...string) *KDC {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a KDC and servers: -short")
	}
	for _, tool := range []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit"} {
		if program(tool) == "" {
			t.Skipf("needs a KDC: there is no %s (sh ensemble/install.sh --kerberos)", tool)
		}
	}
	port, err := links.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	k := &KDC{Addr: fmt.Sprintf("127.0.0.1:%d", port[0]), t: t, dir: t.TempDir(), settings: strings.Join(settings, "\n  ")}
	k.Write("kdc.conf", fmt.Sprintf(`[kdcdefaults]
  kdc_listen = %s
  kdc_tcp_listen = %s
[realms]
  %s = {
    database_name = %s/principal
    key_stash_file = %s/stash
    acl_file = %s/acl
    max_life = 1d
    max_renewable_life = 2d
  }
`, k.Addr, k.Addr, Realm, k.dir, k.dir, k.dir))
	conf := k.Krb5Conf(k.Addr)
	k.env = append(os.Environ(), "KRB5_CONFIG="+conf, "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
	k.Run("kdb5_util", "create", "-s", "-P", "master", "-r", Realm)
	cmd := exec.Command(program("krb5kdc"), "-n", "-r", Realm)
	var log bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = k.env, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // its error is that it was killed
		if t.Failed() {
			t.Logf("the KDC:\n%s", log.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", k.Addr)
		if err == nil {
			conn.Close()
			return k
		}
		if time.Now().After(deadline) {
			t.Fatalf("the KDC does not listen: %v", err)
		}
		time.Sleep(10 * time.Millisecond) // until it does
	}
}

// program returns the path of a tool; the tools of servers are in no user's PATH.
func program(name string) string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if file := filepath.Join(dir, name); file != "" {
			if info, err := os.Stat(file); err == nil && info.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}

// Krb5Conf writes a configuration of Realm with its KDC at addr, and returns the path of
// the file.
func (k *KDC) Krb5Conf(addr string) string {
	return k.Write("krb5-"+addr[strings.LastIndexByte(addr, ':')+1:]+".conf", fmt.Sprintf(`[logging]
  kdc = FILE:%s/kdc.log
[libdefaults]
  default_realm = %s
  ticket_lifetime = 1h
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  %s
[realms]
  %s = {
    kdc = %s
  }
`, k.dir, Realm, k.settings, Realm, addr))
}

// Granted returns the number of tickets for a server that the KDC has granted.
func (k *KDC) Granted(server string) int {
	k.t.Helper()
	n := 0
	for line := range strings.Lines(k.Read(filepath.Join(k.dir, "kdc.log"))) {
		if strings.Contains(line, "TGS_REQ") && strings.Contains(line, "ISSUE") && strings.Contains(line, " for "+server+"@") {
			n++
		}
	}
	return n
}

// Write writes a file in the KDC's folder, and returns its path.
func (k *KDC) Write(name, text string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	return file
}

// Read returns the text of a file.
func (k *KDC) Read(file string) string {
	k.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// Run runs one of the KDC's programs.
func (k *KDC) Run(tool string, args ...string) {
	k.t.Helper()
	cmd := exec.Command(program(tool), args...)
	cmd.Env, cmd.Dir = k.env, k.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
}

// Principal makes a principal with a random key, and returns a keytab with it.
func (k *KDC) Principal(name string) string {
	k.t.Helper()
	k.Run("kadmin.local", "-r", Realm, "addprinc", "-randkey", name)
	return k.Keytab(name)
}

// Keytab returns a keytab of a principal. The principal has another key from then on.
func (k *KDC) Keytab(name string) string {
	k.t.Helper()
	file, err := os.CreateTemp(k.dir, "*.keytab")
	if err != nil {
		k.t.Fatal(err)
	}
	file.Close()
	os.Remove(file.Name()) // kadmin creates it
	k.Run("kadmin.local", "-r", Realm, "ktadd", "-k", file.Name(), name)
	return file.Name()
}

// Demand returns the configuration of servers that serve only clients that have
// authenticated by Kerberos. Their principal is SERVICE/HOST; keytab has its key.
func (k *KDC) Demand(principal, keytab string) ensemble.LocalConfig {
	k.t.Helper()
	jaas := k.Write("jaas.conf", fmt.Sprintf(`Server {
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true keyTab=%q storeKey=true useTicketCache=false principal=%q;
};
`, keytab, principal+"@"+Realm))
	return ensemble.LocalConfig{Servers: 1, Properties: []string{
		"java.security.auth.login.config=" + jaas, "java.security.krb5.conf=" + k.Krb5Conf(k.Addr),
		"zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
		"zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=sasl",
	}}
}

// Kinit returns a credential cache with a ticket of the given lifetime.
func (k *KDC) Kinit(keytab, name, life string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, "ccache-"+life)
	k.Run("kinit", "-c", "FILE:"+file, "-k", "-t", keytab, "-l", life, name)
	return file
}
