package recipes_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/kerberos"
)

// demanding holds the two settings with which servers serve only clients that have authenticated
// by SASL.
var demanding = map[string][]string{
	"enforce.auth.schemes=sasl":         {"zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=sasl"},
	"sessionRequireClientSASLAuth=true": {"zookeeper.sessionRequireClientSASLAuth=true"},
}

// saslUsers holds the users of the tests' servers. Passwords contain more than letters.
var saslUsers = map[string]string{"app": `pa"55\ word,=`, "other": "secret", "jürgen": "größe", "李": "密码"}

// saslServer starts one real server with users and properties.
func saslServer(t *testing.T, properties ...string) []string {
	t.Helper()
	needReal(t, "ZooKeeper checks who authenticates by SASL")
	return addressesOf(ensembletest.Start(t, ensemble.LocalConfig{Servers: 1, TickTime: tick, SASLUsers: saslUsers, Properties: properties}))
}

func addressesOf(e ensemble.Ensemble) (addrs []string) {
	for _, s := range e.Servers() {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

func TestLocksOverSASL(t *testing.T) {
	for name, demand := range demanding {
		t.Run(name, func(t *testing.T) {
			endsItsGoroutines(t)
			addrs := saslServer(t, demand...)
			for user, password := range saslUsers {
				t.Run(user, func(t *testing.T) {
					own := recipes.WithACL(zk.AuthACL(zk.PermAll)...)
					c := connect(t, addrs, recipes.WithSASL(recipes.DigestMD5(user, password)), own, recipes.WithSessionTimeout(timeout))
					path := uniquePath(t)
					l := acquire(t, within(t), recipes.NewMutex(c, path))
					acl, _, err := c.Conn().GetACL(l.Node())
					if want := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: user}}; err != nil || !slices.Equal(acl, want) {
						t.Errorf("the node belongs to %v (%v), want %v", acl, err, want)
					}
					first := l.Deadline()
					eventually(t, "heartbeats are confirmed", func() bool { return l.Deadline().After(first) })
					release(t, l)
					if user == "other" {
						return
					}
					stranger := connect(t, addrs, recipes.WithSASL(recipes.DigestMD5("other", saslUsers["other"])), own)
					if _, err := recipes.NewMutex(stranger, path).Acquire(within(t)); !errors.Is(err, zk.ErrNoAuth) {
						t.Errorf("another user: %v", err)
					}
				})
			}
		})
	}
}

// A session continues over another connection, and the next session begins, as the same user.
func TestSASLIsRepeatedInEveryConnectionAndSession(t *testing.T) {
	addrs := saslServer(t) // Expire has no credentials
	link, err := network.Link(t.Context(), t.Name(), addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	var wire intercept
	heard := listen()
	c := connect(t, []string{link.Addr()}, recipes.WithSASL(recipes.DigestMD5("app", saslUsers["app"])), recipes.WithACL(zk.AuthACL(zk.PermAll)...),
		recipes.WithDialer(wire.dial), recipes.WithConnectionListener(heard.told), recipes.WithSessionTimeout(6*time.Second))
	heard.next(t, recipes.ConnConnected)
	m := recipes.NewMutex(c, uniquePath(t))
	l := acquire(t, within(t), m)
	before := l.SessionID()
	if err := link.Cut(within(t), links.Down); err != nil {
		t.Fatal(err)
	}
	heard.next(t, recipes.ConnSuspended)
	if err := link.Heal(within(t)); err != nil {
		t.Fatal(err)
	}
	heard.next(t, recipes.ConnReconnected)
	release(t, l)
	if l = acquire(t, within(t), m); l.SessionID() != before {
		t.Error("the session did not survive")
	}
	id, password := wire.credentials()
	eventually(t, "the session is expired, which its client and the thief may take from each other", func() bool {
		err := ensemble.Expire(within(t), ensemble.Server{ID: 1, Addr: addrs[0]}, id, password, timeout)
		return err == nil || errors.Is(err, ensemble.ErrNoSession)
	})
	<-l.Lost()
	if l = acquire(t, within(t), m); l.SessionID() == before {
		t.Error("the session did not expire")
	}
	release(t, l)
}

// A refusal by the servers ends Connect at once, with an error that says what to do.
func TestConnectSaysWhyAServerRefusesSASL(t *testing.T) {
	const secret = "wr0ng-pa55word"
	for name, test := range map[string]struct {
		server  func(t *testing.T) []string
		options []recipes.Option
		says    []string
	}{
		"a wrong password": {func(t *testing.T) []string { return saslServer(t) },
			[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", secret))},
			[]string{"AuthFailed, -115", "the password is wrong", "section Server"}},
		"a wrong password where it is demanded": {func(t *testing.T) []string { return saslServer(t, demanding["enforce.auth.schemes=sasl"]...) },
			[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", secret))},
			[]string{"SessionClosedRequireAuth, -124", "the password is wrong", "section Server"}},
		"a wrong password where that does not matter": {func(t *testing.T) []string {
			needReal(t, "ZooKeeper has the setting")
			if ensembletest.Simulated(t) {
				t.Skip("simulated servers refuse it")
			}
			return saslServer(t, "zookeeper.allowSaslFailedClients=true")
		},
			[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", secret))},
			[]string{"does not prove that it knows the password", "allowSaslFailedClients"}},
		"an unknown user": {func(t *testing.T) []string { return saslServer(t) },
			[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("nobody", secret))},
			[]string{"AuthFailed, -115", "does not know the user", "section Server"}},
		"no user": {func(t *testing.T) []string { return saslServer(t) },
			[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("", secret))},
			[]string{"needs a user and a password"}},
		"no SASL on the server": {func(t *testing.T) []string {
			needReal(t, "ZooKeeper answers SASL without a configuration of it")
			return addressesOf(ensembletest.Start(t, ensemble.LocalConfig{Servers: 1, TickTime: tick}))
		}, []recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", secret))},
			[]string{"the server has no SASL", "java.security.auth.login.config"}},
		"FIPS mode": {func(t *testing.T) []string {
			const version = "3.9.6" // the first
			if _, err := ensemble.FindZooKeeper(version); err != nil {
				t.Skip(err)
			}
			needReal(t, "ZooKeeper has no DIGEST-MD5 then")
			if ensembletest.Simulated(t) {
				t.Skip("simulated servers have no FIPS mode")
			}
			return addressesOf(ensembletest.Start(t, ensemble.LocalConfig{ZooKeeper: version, Servers: 1, TickTime: tick, SASLUsers: saslUsers, Properties: []string{"zookeeper.fips-mode=true"}}))
		}, []recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", saslUsers["app"]))},
			[]string{"it has no DIGEST-MD5", "-Dzookeeper.fips-mode=false"}},
		"no SASL of the client": {func(t *testing.T) []string { return saslServer(t, demanding["enforce.auth.schemes=sasl"]...) },
			nil, []string{"demands an authentication", "WithSASL"}},
		"no SASL of the client, the older way": {func(t *testing.T) []string { return saslServer(t, demanding["sessionRequireClientSASLAuth=true"]...) },
			nil, []string{"demands an authentication", "WithSASL"}},
	} {
		t.Run(name, func(t *testing.T) {
			endsItsGoroutines(t)
			addrs := test.server(t)
			_, err := recipes.Connect(within(t), addrs, test.options...)
			if !errors.Is(err, zk.ErrAuthFailed) || errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%v", err)
			}
			t.Log(err)
			for _, want := range append(test.says, addrs[0]) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it does not say %q: %v", want, err)
				}
			}
			if shown := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(shown, secret) {
				t.Errorf("the secret was told: %s", shown)
			}
		})
	}
}

// A server may demand another scheme than the client's.
func TestConnectSaysThatAServerDemandsAnotherScheme(t *testing.T) {
	endsItsGoroutines(t)
	addrs := saslServer(t, demanding["enforce.auth.schemes=sasl"]...)
	_, err := recipes.Connect(within(t), addrs, recipes.WithAuth("digest", []byte("owner:right")))
	if !errors.Is(err, zk.ErrAuthFailed) || !strings.Contains(err.Error(), "enforce.auth.schemes") {
		t.Error(err)
	}
}

// Many guides use this setting to make servers demand SASL. ZooKeeper has no such setting.
func TestServersDemandNothingByRequireClientAuthScheme(t *testing.T) {
	needReal(t, "ZooKeeper ignores the setting")
	if os.Getenv(ensembletest.Variable) != "real" {
		t.Skip("make test-real has it")
	}
	c := connect(t, saslServer(t, "zookeeper.requireClientAuthScheme=sasl"))
	release(t, acquire(t, within(t), recipes.NewMutex(c, uniquePath(t))))
}

// Each mechanism works over TLS, with TLS in the client or in its dialer. The server's principal
// is that of the name given to Connect, whichever address the dialer uses.
func TestSASLOverTLS(t *testing.T) {
	needReal(t, "ZooKeeper authenticates over its secureClientPort")
	mechanisms := map[string]func(*testing.T) (properties []string, m recipes.SASLMechanism, id string){
		"DIGEST-MD5": func(t *testing.T) ([]string, recipes.SASLMechanism, string) {
			jaas := filepath.Join(t.TempDir(), "jaas.conf")
			if err := os.WriteFile(jaas, []byte(`Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_app="secret"; };`), 0o600); err != nil {
				t.Fatal(err)
			}
			return append([]string{"java.security.auth.login.config=" + jaas, "zookeeper.fips-mode=false"}, demanding["enforce.auth.schemes=sasl"]...), recipes.DigestMD5("app", "secret"), "app"
		},
		"GSSAPI": func(t *testing.T) ([]string, recipes.SASLMechanism, string) {
			k := ensembletest.StartKDC(t)
			m, err := kerberos.New(kerberos.Config{Keytab: k.Principal("app"), Krb5Conf: k.Krb5Conf(k.Addr)})
			if err != nil {
				t.Fatal(err)
			}
			return k.Demand("zookeeper/zk.test", k.Principal("zookeeper/zk.test")).Properties, m, "app@" + ensembletest.Realm
		},
	}
	for name, of := range mechanisms {
		t.Run(name, func(t *testing.T) {
			if name == "GSSAPI" && os.Getenv(ensembletest.Variable) != "real" {
				t.Skip("make test-real has it")
			}
			ca := newAuthority(t)
			properties, m, id := of(t)
			addr := secureServer(t, ca, append(properties, "zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider")...)
			goes := func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, addr)
			}
			config := ca.client(t)
			config.ServerName = "zk.test"
			for how, options := range map[string][]recipes.Option{
				"of the client": {recipes.WithTLS(ca.client(t)), recipes.WithDialer(goes)},
				"of its dialer": {recipes.WithDialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
					return (&tls.Dialer{Config: config}).DialContext(ctx, network, addr)
				})},
			} {
				t.Run("TLS "+how, func(t *testing.T) {
					endsItsGoroutines(t)
					c := connect(t, []string{"zk.test:2281"}, append(options, recipes.WithSASL(m), recipes.WithACL(zk.AuthACL(zk.PermAll)...))...)
					l := acquire(t, within(t), recipes.NewMutex(c, uniquePath(t)))
					acl, _, err := c.Conn().GetACL(l.Node())
					// The client's certificate is another identity.
					if want := (zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: id}); err != nil || !slices.Contains(acl, want) {
						t.Errorf("the node belongs to %v (%v), want %v", acl, err, want)
					}
					first := l.Deadline()
					eventually(t, "heartbeats are confirmed", func() bool { return l.Deadline().After(first) })
					release(t, l)
				})
			}
		})
	}
}
