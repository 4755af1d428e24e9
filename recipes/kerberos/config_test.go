package kerberos_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/recipes/kerberos"
)

// files creates the files of a client without a KDC.
func files(t *testing.T, kdcAddr string) (conf, keys string) {
	t.Helper()
	dir := t.TempDir()
	conf = filepath.Join(dir, "krb5.conf")
	text := fmt.Sprintf("[libdefaults]\n default_realm = %s\n dns_lookup_kdc = false\n udp_preference_limit = 1\n[realms]\n %s = {\n  kdc = %s\n }\n", realm, realm, kdcAddr)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kt := keytab.New()
	if err := kt.AddEntry("app", realm, "secret", time.Now(), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	keys = filepath.Join(dir, "app.keytab")
	if err := os.WriteFile(keys, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return conf, keys
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	conf, keys := files(t, "127.0.0.1:88")
	nowhere, text := filepath.Join(t.TempDir(), "nowhere"), filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("this is neither a keytab nor a credential cache nor anything else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config kerberos.Config
		says   string
	}{
		"a configuration that is missing":    {kerberos.Config{Keytab: keys, Krb5Conf: nowhere}, "KRB5_CONFIG"},
		"a keytab that is missing":           {kerberos.Config{Keytab: nowhere, Krb5Conf: conf}, "make one with ktadd"},
		"a keytab that is none":              {kerberos.Config{Keytab: text, Krb5Conf: conf}, text},
		"a folder for a keytab":              {kerberos.Config{Keytab: filepath.Dir(text), Krb5Conf: conf}, filepath.Dir(text)},
		"a keytab of others":                 {kerberos.Config{Keytab: keys, Principal: "web", Krb5Conf: conf}, "no keys of web@" + realm + ", but of app@" + realm},
		"a credential cache that is missing": {kerberos.Config{CCache: nowhere, Krb5Conf: conf}, "run kinit"},
		"a credential cache that is none":    {kerberos.Config{CCache: text, Krb5Conf: conf}, "run kinit"},
		"a keytab and a credential cache":    {kerberos.Config{Keytab: keys, CCache: text, Krb5Conf: conf}, "give one of them"},
		"a principal for a credential cache": {kerberos.Config{CCache: text, Principal: "app", Krb5Conf: conf}, "give none"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kerberos.New(test.config)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
	if _, err := kerberos.New(kerberos.Config{Keytab: keys, Krb5Conf: conf}); err != nil {
		t.Error(err)
	}
}

func TestNoPrintingShowsAKey(t *testing.T) {
	conf, keys := files(t, "127.0.0.1:88")
	m, err := kerberos.New(kerberos.Config{Keytab: keys, Krb5Conf: conf})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%v|%+v|%#v|%s", m, m, m, m), strings.Repeat("|GSSAPI with the keytab "+keys, 4)[1:]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// kdcThat starts a KDC that serves its connections with a function.
func kdcThat(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with the listener
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// The error for a refusal by a KDC says what to do, and is final if another attempt would be
// refused too.
func TestWhatAKDCRefuses(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // runs after the cleanups of the KDCs
	for code, test := range map[int32]struct {
		final bool
		says  string
	}{
		errorcode.KRB_AP_ERR_SKEW:             {true, "set them right"},
		errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN: {true, "knows no client app"},
		errorcode.KDC_ERR_ETYPE_NOSUPP:        {true, "keys of AES"},
		errorcode.KDC_ERR_SVC_UNAVAILABLE:     {false, "KDC_ERR_SVC_UNAVAILABLE"},
	} {
		addr := kdcThat(t, func(conn net.Conn) {
			k := messages.NewKRBError(types.NewPrincipalName(2, "krbtgt/"+realm), realm, code, "")
			b, err := k.Marshal()
			if err != nil {
				t.Error(err)
			}
			_, _ = io.ReadFull(conn, make([]byte, 4))
			_, _ = conn.Write(append([]byte{0, 0, byte(len(b) >> 8), byte(len(b))}, b...))
		})
		conf, keys := files(t, addr)
		m, err := kerberos.New(kerberos.Config{Keytab: keys, Krb5Conf: conf})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = m.Start(t.Context(), "localhost:2181")
		if err == nil || errors.Is(err, zk.ErrAuthFailed) != test.final || !strings.Contains(err.Error(), test.says) {
			t.Errorf("code %d: %v, want %q", code, err, test.says)
		}
	}
}

func TestAKDCThatIsAwayOrSilentIsTriedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := l.Addr().String()
	l.Close()
	stop := make(chan struct{})
	silent := kdcThat(t, func(net.Conn) { <-stop })
	defer close(stop) // before the wait for the KDC
	for name, addr := range map[string]string{"away": away, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			conf, keys := files(t, addr)
			m, err := kerberos.New(kerberos.Config{Keytab: keys, Krb5Conf: conf})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, _, err = m.Start(ctx, "localhost:2181")
			if err == nil || errors.Is(err, zk.ErrAuthFailed) || !strings.Contains(err.Error(), "KDC") {
				t.Error(err)
			}
		})
	}
}
