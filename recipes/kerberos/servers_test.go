package kerberos_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/kerberos"
)

const realm = ensembletest.Realm

// serve starts a server that serves only clients that have authenticated by Kerberos, and returns its port.
func serve(t *testing.T, k *ensembletest.KDC, principal string) string {
	t.Helper()
	ensembletest.Real(t, "ZooKeeper checks the tickets")
	e := ensembletest.Start(t, k.Demand(principal, k.Principal(principal)))
	_, port, err := net.SplitHostPort(e.Servers()[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// locks makes a client acquire a lock as a user, and checks that the node belongs to the user.
func locks(t *testing.T, server string, m recipes.SASLMechanism, user string) {
	t.Helper()
	c, err := recipes.Connect(within(t), []string{server}, recipes.WithSASL(m), recipes.WithACL(zk.AuthACL(zk.PermAll)...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(within(t))
	l, err := recipes.NewMutex(c, "/locks-of-"+user).Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	acl, _, err := c.Conn().GetACL(l.Node())
	if want := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: user + "@" + realm}}; err != nil || !slices.Equal(acl, want) {
		t.Errorf("the node belongs to %v (%v), want %v", acl, err, want)
	}
	if err := l.Release(within(t)); err != nil {
		t.Error(err)
	}
}

func mechanism(t *testing.T, c kerberos.Config) *kerberos.Mechanism {
	t.Helper()
	m, err := kerberos.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLocksOverKerberos(t *testing.T) {
	k := ensembletest.StartKDC(t)
	conf := k.Krb5Conf(k.Addr)
	port := serve(t, k, "zookeeper/localhost")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	byName, byAddress := "localhost:"+port, "127.0.0.1:"+port
	keytab := k.Principal("app")
	t.Run("with a keytab, and servers by their names", func(t *testing.T) {
		locks(t, byName, mechanism(t, kerberos.Config{Keytab: keytab, Krb5Conf: conf}), "app")
	})
	t.Run("with a keytab, and a name of its principal", func(t *testing.T) {
		for _, principal := range []string{"app", "app@" + realm} {
			locks(t, byName, mechanism(t, kerberos.Config{Keytab: keytab, Principal: principal, Krb5Conf: conf}), "app")
		}
	})
	t.Run("with a credential cache, and servers by a principal", func(t *testing.T) {
		cache := k.Kinit(keytab, "app", "1h")
		locks(t, byAddress, mechanism(t, kerberos.Config{CCache: cache, ServerPrincipal: "zookeeper/localhost@" + realm, Krb5Conf: conf}), "app")
	})
	t.Run("with what a file of credentials says", func(t *testing.T) {
		c, err := ensemble.ReadCredentials("sasl:gssapi:keytab=" + keytab + " principal=app serverprincipal=zookeeper/localhost krb5conf=" + conf)
		if err != nil {
			t.Fatal(err)
		}
		locks(t, byAddress, c.SASL(), "app")
	})
	t.Run("with what the environment says", func(t *testing.T) {
		t.Setenv("KRB5_CONFIG", conf)
		t.Setenv("KRB5CCNAME", "FILE:"+k.Kinit(keytab, "app", "2h"))
		locks(t, byName, mechanism(t, kerberos.Config{}), "app")
	})
	t.Run("again with a ticket, and with another when that has expired", func(t *testing.T) {
		short := k.Write("short.conf", strings.Replace(k.Read(conf), "ticket_lifetime = 1h", "ticket_lifetime = 2s", 1))
		m := mechanism(t, kerberos.Config{Keytab: keytab, Krb5Conf: short})
		before := k.Granted("zookeeper/localhost")
		locks(t, byName, m, "app")
		if n := k.Granted("zookeeper/localhost") - before; n == 0 || n > 2 {
			t.Errorf("two connections took %d tickets, and the second may have used the first one's", n)
		}
		<-time.After(2 * time.Second) // the life of a ticket
		before = k.Granted("zookeeper/localhost")
		locks(t, byName, m, "app")
		if k.Granted("zookeeper/localhost") == before {
			t.Error("an expired ticket was used")
		}
	})
	t.Run("again with the same ticket", func(t *testing.T) {
		m := mechanism(t, kerberos.Config{Keytab: keytab, Krb5Conf: conf})
		before := k.Granted("zookeeper/localhost")
		for range 3 {
			locks(t, byName, m, "app")
		}
		if n := k.Granted("zookeeper/localhost") - before; n != 1 {
			t.Errorf("the KDC has granted %d tickets, want 1", n)
		}
	})
	t.Run("another mechanism", func(t *testing.T) {
		refused(t, byName, recipes.DigestMD5("app", "secret"), "it has no DIGEST-MD5", "its mechanism is another, as a rule GSSAPI")
	})
	refusals(t, k, keytab, byName, byAddress)
}

func TestAServerOfDigestMD5RefusesKerberos(t *testing.T) {
	ensembletest.EveryNight(t)
	k := ensembletest.StartKDC(t)
	ensembletest.Real(t, "ZooKeeper checks the tokens")
	server := ensembletest.Start(t, ensemble.LocalConfig{Servers: 1, SASLUsers: map[string]string{"app": "secret"}}).Servers()[0].Addr
	k.Principal("zookeeper/127.0.0.1")
	m := mechanism(t, kerberos.Config{Keytab: k.Principal("app"), Krb5Conf: k.Krb5Conf(k.Addr)})
	refused(t, server, m, "its mechanism is another, as a rule DIGEST-MD5")
}

// refusals checks that each refusal ends Connect at once, with an error that says what to do.
func refusals(t *testing.T, k *ensembletest.KDC, keytab, byName, byAddress string) {
	conf := k.Krb5Conf(k.Addr)
	k.Principal("zookeeper/other")
	removed := k.Principal("removed")
	k.Run("kadmin.local", "-r", realm, "delprinc", "-force", "removed")
	old := k.Principal("old")
	k.Keytab("old")
	expired := k.Kinit(keytab, "app", "1s")
	<-time.After(2 * time.Second) // the life of that ticket, which the KDC counts in seconds
	for name, test := range map[string]struct {
		config kerberos.Config
		server string
		says   []string
	}{
		"a server that the KDC does not know":  {kerberos.Config{Keytab: keytab}, byAddress, []string{"knows no server zookeeper/127.0.0.1", "ServerPrincipal"}},
		"a service that the KDC does not know": {kerberos.Config{Keytab: keytab, Service: "zk"}, byName, []string{"knows no server zk/localhost", "ServerPrincipal"}},
		"the principal of another server":      {kerberos.Config{Keytab: keytab, ServerPrincipal: "zookeeper/other"}, byName, []string{"the server refused the authentication", "the ticket is for the principal of that section"}},
		"a client that the KDC does not know":  {kerberos.Config{Keytab: removed}, byName, []string{"knows no client removed", "Principal"}},
		"a keytab that is too old":             {kerberos.Config{Keytab: old}, byName, []string{"keytab", "ktadd"}},
		"a ticket that has expired":            {kerberos.Config{CCache: expired}, byName, []string{"has expired", "run kinit"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.config.Krb5Conf = conf
			m := mechanism(t, test.config)
			refused(t, test.server, m, test.says...)
		})
	}
}

func refused(t *testing.T, server string, m recipes.SASLMechanism, says ...string) {
	t.Helper()
	c, err := recipes.Connect(within(t), []string{server}, recipes.WithSASL(m))
	if err == nil {
		defer c.Close(within(t))
	}
	if !errors.Is(err, zk.ErrAuthFailed) || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	t.Log(err)
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say %q", want)
		}
	}
}
