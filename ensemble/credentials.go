package ensemble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// Credentials authenticate a client by one of the servers' schemes. The secret of
// "digest" is user:password; that of "sasl" is a mechanism with its settings, see
// ReadCredentials. The zero value holds no credentials. Printing a value never shows the
// secret, and its JSON is without it.
type Credentials struct {
	scheme string
	secret func() []byte // a function, so that no %v shows it
	sasl   zkconn.Mechanism
}

// ReadCredentials parses scheme:secret, such as digest:user:password,
// sasl:digest-md5:user:password or sasl:gssapi:keytab=FILE. The settings of readGSSAPI
// follow sasl:gssapi:, with spaces between them. White space around the text does not
// count. The error does not show the text, except names of files and principals.
func ReadCredentials(text string) (Credentials, error) {
	scheme, secret, found := strings.Cut(strings.TrimSpace(text), ":")
	if !found || scheme == "" || secret == "" {
		return Credentials{}, errors.New("credentials are written scheme:secret, such as digest:user:password or sasl:digest-md5:user:password")
	}
	c := NewCredentials(scheme, []byte(secret))
	if scheme != saslScheme {
		return c, nil
	}
	_, err := readMechanism(secret)
	return c, err
}

// NewCredentials returns the credentials of a scheme; the scheme "" means no credentials.
// If the secret of the scheme "sasl" cannot be parsed, every connection fails with that
// error.
func NewCredentials(scheme string, secret []byte) Credentials {
	c := Credentials{scheme: scheme, secret: func() []byte { return secret }}
	if scheme == saslScheme {
		c.sasl = mechanismOf(string(secret))
	}
	return c
}

// Scheme returns the scheme, "" for no credentials.
func (c Credentials) Scheme() string { return c.scheme }

// Secret returns the secret that the scheme takes, nil for no credentials.
func (c Credentials) Secret() []byte {
	if c.scheme == "" {
		return nil
	}
	return c.secret()
}

// ACL returns the ACL for the nodes that the client creates. A client with these
// credentials may do everything, and no other client anything. Without credentials every
// client may do everything.
func (c Credentials) ACL() []zk.ACL {
	if c.scheme == "" {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}

// authRetry is the pause between failing calls, so that their loop does not spin.
const authRetry = 20 * time.Millisecond

// Add authenticates conn, again after each lost connection until it succeeds; conn
// repeats it in each session that follows. When ctx ends first Add closes conn. It
// returns ctx's cause, or zk.ErrAuthFailed when the servers do not know the scheme or
// refuse the secret. It does nothing for the scheme "sasl", which authenticates
// connections: see Authenticate.
func (c Credentials) Add(ctx context.Context, conn *zk.Conn) error {
	if c.scheme == "" || c.sasl != nil {
		return nil
	}
	defer context.AfterFunc(ctx, conn.Close)()
	for {
		err := conn.AddAuth(c.scheme, c.secret())
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, zk.ErrAuthFailed):
			return fmt.Errorf("authenticating by %s: %w", c.scheme, err)
		}
		select {
		case <-time.After(authRetry):
		case <-ctx.Done():
		}
	}
}
