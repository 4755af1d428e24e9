package ensemble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/zkconn"
	"github.com/zkverify/zkverify/recipes/kerberos"
)

// saslScheme is the scheme of credentials that authenticate connections.
const saslScheme = "sasl"

// readMechanism parses the text behind "sasl:" in credentials.
func readMechanism(text string) (zkconn.Mechanism, error) {
	mechanism, secret, _ := strings.Cut(text, ":")
	switch strings.ToLower(mechanism) {
	case "digest-md5":
		user, password, _ := strings.Cut(secret, ":")
		if user == "" || password == "" {
			return nil, errors.New("credentials of DIGEST-MD5 are written sasl:digest-md5:user:password")
		}
		return zkconn.NewDigestMD5(user, password), nil
	case "gssapi":
		return readGSSAPI(secret)
	}
	return nil, errors.New("credentials of SASL are written sasl:digest-md5:user:password or sasl:gssapi:NAME=VALUE")
}

// readGSSAPI parses settings such as keytab=FILE principal=app@EXAMPLE.COM, with white
// space between them. Their names are those of kerberos.Config in lower case.
func readGSSAPI(text string) (zkconn.Mechanism, error) {
	var c kerberos.Config
	names := map[string]*string{
		"keytab": &c.Keytab, "ccache": &c.CCache, "principal": &c.Principal,
		"service": &c.Service, "serverprincipal": &c.ServerPrincipal, "krb5conf": &c.Krb5Conf,
	}
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		setting := names[strings.ToLower(name)]
		if setting == nil || value == "" {
			return nil, fmt.Errorf("credentials of GSSAPI are written sasl:gssapi:NAME=VALUE …, with the names %s", strings.Join(slices.Sorted(maps.Keys(names)), ", "))
		}
		*setting = value
	}
	return kerberos.New(c)
}

// mechanismOf returns the mechanism of readMechanism, or one that fails every connection
// with its error.
func mechanismOf(text string) zkconn.Mechanism {
	m, err := readMechanism(text)
	if err != nil {
		return unreadable{err}
	}
	return m
}

// unreadable is the mechanism of credentials that cannot be parsed.
type unreadable struct{ err error }

func (unreadable) Name() string { return "(none)" }

func (u unreadable) Start(context.Context, string) ([]byte, func([]byte) ([]byte, error), error) {
	return nil, nil, zkconn.AuthFailed("%w", u.err)
}

// SASL returns the mechanism of the scheme "sasl", nil for other credentials.
func (c Credentials) SASL() zkconn.Mechanism { return c.sasl }

// SASLUsers returns the value of LocalConfig.SASLUsers for servers that know the
// credentials: the user of DIGEST-MD5, and nil for other credentials.
func (c Credentials) SASLUsers() map[string]string {
	if _, ok := c.sasl.(zkconn.DigestMD5); !ok {
		return nil
	}
	_, secret, _ := strings.Cut(string(c.secret()), ":")
	user, password, _ := strings.Cut(secret, ":")
	return map[string]string{user: password}
}

// Authenticate returns conn, a new connection to server (host:port). If the credentials
// are of the scheme "sasl", it is authenticated within patience, before the answer to the
// connect request can be read from it. Reads return an error that wraps zk.ErrAuthFailed
// if the server refuses the client.
func (c Credentials) Authenticate(conn net.Conn, server string, patience time.Duration) net.Conn {
	if c.sasl == nil {
		return conn
	}
	return zkconn.WithSASL(conn, server, c.sasl, patience, func(answer []byte) bool { return implausible(answer) == "" })
}

// jaasFile is the file in which a server with SASL has its users.
const jaasFile = "jaas.conf"

// jaas returns the text of jaasFile: the users of DIGEST-MD5 and their passwords.
func jaas(users map[string]string) string {
	var b strings.Builder
	b.WriteString("Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required")
	for _, user := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&b, "\n  %s=%s", jaasQuoted("user_"+user), jaasQuoted(users[user]))
	}
	b.WriteString(";\n};\n")
	return b.String()
}

// jaasQuoted returns a string in the form that Java's tokenizer reads.
func jaasQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(text) + `"`
}

// modeOf returns the mode of a file that a server reads: only its owner may read
// passwords.
func modeOf(file string) os.FileMode {
	if file == jaasFile {
		return 0o600
	}
	return 0o644
}

// saslFlags make the server read its users, and accept ACLs of the scheme sasl. Since
// 3.9.6 servers have no DIGEST-MD5 in FIPS mode, which is their default (ZOOKEEPER-5043).
func (s *server) saslFlags() []string {
	if s.local.config.SASLUsers == nil {
		return nil
	}
	return []string{
		"-Djava.security.auth.login.config=" + filepath.Join(s.dir, jaasFile),
		"-Dzookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
		"-Dzookeeper.fips-mode=false",
	}
}
