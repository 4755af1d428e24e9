package recipes

import (
	"context"

	"github.com/zkverify/zkverify/internal/sasl"
)

// SASLMechanism authenticates connections by a mechanism of SASL. [DigestMD5] returns one, and
// package recipes/kerberos has GSSAPI. Its methods are called by several goroutines.
type SASLMechanism interface {
	// Name is the mechanism's registered name, such as DIGEST-MD5. Errors show it.
	Name() string
	// Start begins the authentication of one connection to a server, the host:port that it was
	// dialed by. It returns the first token for the server, which is empty when the server speaks
	// first, and what answers each challenge: with the next token, or with nil when the
	// authentication is complete and nothing is left to send. A challenge is nil when the server's
	// answer has none. Both end when ctx does, which is when the handshake of the connection has taken
	// too long or the connection is closed. An error that wraps zk.ErrAuthFailed says that another attempt
	// fails as well; the client tries again after any other.
	Start(ctx context.Context, server string) (first []byte, next func(challenge []byte) (response []byte, err error), err error)
}

// WithSASL authenticates every connection by a mechanism of SASL, before the client uses it, as
// servers demand it with enforce.auth.schemes=sasl or sessionRequireClientSASLAuth=true. The client's
// identity for access control lists has the scheme "sasl" and, as a rule, the name of the user or
// principal, as in zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "app"}; zk.AuthACL stands for it.
// Servers have one mechanism each, that of the section Server of their JAAS file. Composes with
// WithTLS, and with WithAuth, which adds other identities. Default: none.
//
// A connection is authenticated anew each time it is made, within the third of the session timeout
// that the client waits for a server. When a server refuses, the client tries the others. Connect, and calls
// that wait for a new session, return zk.ErrAuthFailed at once when none is left, with what each server has
// refused. A session that the servers have granted goes on until its leases have to end.
func WithSASL(m SASLMechanism) Option {
	return func(c *config) { c.SASL = m }
}

// DigestMD5 is the mechanism DIGEST-MD5 for a user of the servers' JAAS file, of the line
// user_NAME="PASSWORD" in its section Server. The password is not sent; what is sent lets a listener try
// passwords, so use WithTLS. The client goes on only with a server that proves that it knows the
// password too.
func DigestMD5(user, password string) SASLMechanism { return sasl.NewDigestMD5(user, password) }
