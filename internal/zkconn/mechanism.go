package zkconn

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// Mechanism produces the tokens that a client sends. recipes.SASLMechanism documents it.
type Mechanism interface {
	Name() string
	Start(ctx context.Context, server string) (first []byte, next func(challenge []byte) ([]byte, error), err error)
}

// AuthError is the error of a connection that could not be authenticated. It wraps
// zk.ErrAuthFailed when another attempt would fail too, unless the configuration changes.
type AuthError struct {
	mechanism string
	err       error
}

func (e *AuthError) Error() string {
	// Its text comes first, as for other schemes, and once.
	if errors.Is(e.err, zk.ErrAuthFailed) {
		return fmt.Sprintf("%v (SASL %s)", e.err, e.mechanism)
	}
	return fmt.Sprintf("SASL %s: %v", e.mechanism, e.err)
}

func (e *AuthError) Unwrap() error { return e.err }

// AuthFailed returns an error that wraps zk.ErrAuthFailed: another attempt would fail as well.
func AuthFailed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", zk.ErrAuthFailed, fmt.Errorf(format, args...))
}

// Codes of servers (KeeperException.Code).
const (
	authFailed   = -115
	requiresAuth = -124 // since the server has enforce.auth.enabled or sessionRequireClientSASLAuth
)

// refused returns the error for a server's answer, with advice for the user. The server
// gives only the code: the reason is in its log.
func refused(code int32, mechanism string, rounds int) error {
	said := fmt.Sprintf("the server answered with error %d", code)
	switch code {
	case authFailed:
		said = "the server refused the authentication (AuthFailed, -115)"
	case requiresAuth:
		said = "the server refused the authentication, which it demands (SessionClosedRequireAuth, -124)"
	}
	switch {
	case mechanism == DigestMD5Name && rounds == 1:
		// The server has received neither a user nor a proof.
		return AuthFailed("%s before it was told a user: it has no DIGEST-MD5; either its mechanism is another, as a rule GSSAPI: use that one (package recipes/kerberos, or sasl:gssapi in a file); or it is in FIPS mode, the default, in which it has none since ZooKeeper 3.9.6: start it with -Dzookeeper.fips-mode=false", said)
	case mechanism == DigestMD5Name:
		return AuthFailed("%s: it does not know the user, or the password is wrong; compare both with the line user_NAME=\"PASSWORD\" in the section Server of its JAAS file", said)
	}
	return AuthFailed("%s: its log has the reason; check that the mechanism is that of the section Server of its JAAS file, that the ticket is for the principal of that section, that its keytab has the key of that principal, and that both clocks are right", said)
}

// noToken returns the error for an answer without a token where a token must come.
func noToken() error {
	return AuthFailed("the server has no SASL: its JVM needs -Djava.security.auth.login.config=FILE with a section Server; or it lets a client go on whose authentication has failed (allowSaslFailedClients)")
}
