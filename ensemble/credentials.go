package ensemble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/internal/sasl"
)

// Credentials are what clients authenticate by, of one of the servers' schemes:
// user:password of "digest", and of "sasl" a mechanism with what it needs, see ReadCredentials.
// The zero value is nobody's. No printing of a value shows the secret, and its JSON has nothing
// of it.
type Credentials struct {
	scheme string
	secret func() []byte // a function, so that no %v shows it
	sasl   sasl.Mechanism
}

// ReadCredentials takes apart what is written scheme:secret, such as
// digest:user:password, sasl:digest-md5:user:password or sasl:gssapi:keytab=FILE. What follows
// sasl:gssapi: are the settings of readGSSAPI, with spaces between them. White space around the
// text does not count. The error does not show the text, but for names of files and principals.
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

// NewCredentials returns the credentials of a scheme; "" makes them nobody's. What cannot be read
// of the scheme "sasl" fails with every connection.
func NewCredentials(scheme string, secret []byte) Credentials {
	c := Credentials{scheme: scheme, secret: func() []byte { return secret }}
	if scheme == saslScheme {
		c.sasl = mechanismOf(string(secret))
	}
	return c
}

// Scheme is the scheme; "" when the credentials are nobody's.
func (c Credentials) Scheme() string { return c.scheme }

// Secret is what the scheme wants; nil when the credentials are nobody's.
func (c Credentials) Secret() []byte {
	if c.scheme == "" {
		return nil
	}
	return c.secret()
}

// ACL is what nodes are created with. A client with these credentials may do everything,
// and no other client anything. Without credentials every client may do everything.
func (c Credentials) ACL() []zk.ACL {
	if c.scheme == "" {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}

// authRetry keeps a loop of failing calls from spinning.
const authRetry = 20 * time.Millisecond

// Add authenticates conn, as often as a lost connection takes; conn repeats it in
// each session that follows. When ctx ends first conn is closed. Errors: ctx's
// cause; zk.ErrAuthFailed, when the servers do not know the scheme or refuse the
// secret. Credentials of the scheme "sasl" are those of connections, see Authenticate.
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
