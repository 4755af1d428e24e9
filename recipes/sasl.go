package recipes

import (
	"context"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// SASLMechanism is a SASL mechanism that authenticates connections. [DigestMD5] returns one, and
// package recipes/kerberos has GSSAPI. Several goroutines call its methods.
type SASLMechanism interface {
	// Name is the mechanism's registered name, such as DIGEST-MD5. Errors show it.
	Name() string
	// Start begins the authentication of one connection. server is the host:port that was dialed.
	// Start returns the first token for the server, which is empty when the server speaks first,
	// and a function that answers each challenge: with the next token, or with nil when the
	// authentication is complete and no token is left to send. A challenge is nil when the
	// server's answer has none. Start and next must return when ctx ends, which is when the
	// handshake of the connection has taken too long or the connection is closed. An error that
	// wraps zk.ErrAuthFailed means that another attempt would fail as well; after any other error
	// the client tries again.
	Start(ctx context.Context, server string) (first []byte, next func(challenge []byte) (response []byte, err error), err error)
}

// WithSASL authenticates every connection by a SASL mechanism before the client uses it, as servers
// with enforce.auth.schemes=sasl or sessionRequireClientSASLAuth=true demand. The client's identity
// for access control lists has the scheme "sasl" and, as a rule, the name of the user or principal,
// as in zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "app"}; zk.AuthACL stands for it. Each server
// has one mechanism, set in the section Server of its JAAS file. Composes with [WithTLS], and with
// [WithAuth], which adds other identities. Default: none.
//
// Each connection is authenticated within the third of the session timeout that the client waits
// for a server. When a server refuses, the client tries the others. When all have refused, Connect,
// and calls that wait for a new session, return zk.ErrAuthFailed at once, with the refusal of each
// server. A session that the servers have granted continues until its leases have to end.
func WithSASL(m SASLMechanism) Option {
	return func(c *config) { c.SASL = m }
}

// DigestMD5 returns the mechanism DIGEST-MD5 for a user of the servers' JAAS file: the line
// user_NAME="PASSWORD" in its section Server. The password is not sent, but a listener can test
// guesses of it against the exchange, so use WithTLS. The client uses only a server that proves
// that it knows the password too.
func DigestMD5(user, password string) SASLMechanism { return zkconn.NewDigestMD5(user, password) }
