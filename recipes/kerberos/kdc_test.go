package kerberos_test

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
)

// realm is that of the tests.
const realm = "ZKVERIFY.TEST"

// kdc is a KDC of the test's own, on loopback.
type kdc struct {
	t    *testing.T
	dir  string
	addr string
	env  []string
}

// startKDC starts a KDC whose tickets last as long as clients ask for, or skips the test.
func startKDC(t *testing.T) *kdc {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a KDC and servers: -short")
	}
	for _, tool := range []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit"} {
		if program(tool) == "" {
			t.Skipf("needs a KDC: there is no %s (sh ensemble/install.sh --kerberos)", tool)
		}
	}
	k := &kdc{t: t, dir: t.TempDir()}
	k.addr = freeAddr(t)
	k.write("kdc.conf", fmt.Sprintf(`[kdcdefaults]
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
`, k.addr, k.addr, realm, k.dir, k.dir, k.dir))
	conf := k.krb5Conf(k.addr)
	k.env = append(os.Environ(), "KRB5_CONFIG="+conf, "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
	k.run("kdb5_util", "create", "-s", "-P", "master", "-r", realm)
	cmd := exec.Command(program("krb5kdc"), "-n", "-r", realm)
	var log bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = k.env, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
		if t.Failed() {
			t.Logf("the KDC:\n%s", log.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", k.addr)
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

// program finds a tool; those of servers are in no user's PATH.
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

// krb5Conf writes a configuration of the realm whose KDC is at addr, and returns its name.
func (k *kdc) krb5Conf(addr string) string {
	return k.write("krb5-"+addr[strings.LastIndexByte(addr, ':')+1:]+".conf", fmt.Sprintf(`[logging]
  kdc = FILE:%s/kdc.log
[libdefaults]
  default_realm = %s
  ticket_lifetime = 1h
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
[realms]
  %s = {
    kdc = %s
  }
`, k.dir, realm, realm, addr))
}

// granted is how many tickets for a server the KDC has granted.
func (k *kdc) granted(server string) int {
	k.t.Helper()
	n := 0
	for line := range strings.Lines(k.read(filepath.Join(k.dir, "kdc.log"))) {
		if strings.Contains(line, "TGS_REQ") && strings.Contains(line, "ISSUE") && strings.Contains(line, " for "+server+"@") {
			n++
		}
	}
	return n
}

func (k *kdc) write(name, text string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	return file
}

func (k *kdc) read(file string) string {
	k.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

func (k *kdc) run(tool string, args ...string) {
	k.t.Helper()
	cmd := exec.Command(program(tool), args...)
	cmd.Env, cmd.Dir = k.env, k.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
}

// principal makes a principal of a random key, and returns a keytab with it.
func (k *kdc) principal(name string) string {
	k.t.Helper()
	k.run("kadmin.local", "-r", realm, "addprinc", "-randkey", name)
	return k.keytab(name)
}

// keytab returns a keytab of a principal, which has another key from then on.
func (k *kdc) keytab(name string) string {
	k.t.Helper()
	file, err := os.CreateTemp(k.dir, "*.keytab")
	if err != nil {
		k.t.Fatal(err)
	}
	file.Close()
	os.Remove(file.Name()) // kadmin wants to make it
	k.run("kadmin.local", "-r", realm, "ktadd", "-k", file.Name(), name)
	return file.Name()
}

// kinit returns a credential cache with a ticket that lasts so long.
func (k *kdc) kinit(keytab, name, life string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, "ccache-"+life)
	k.run("kinit", "-c", "FILE:"+file, "-k", "-t", keytab, "-l", life, name)
	return file
}

// freeAddr is an address of loopback on which nothing listened a moment ago.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
