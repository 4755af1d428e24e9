package zkconn

import (
	"context"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // the mechanism requires it
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// DigestMD5Name is the name of the mechanism.
const DigestMD5Name = "DIGEST-MD5"

// digestURI is the name that all ZooKeeper servers have, independent of their hosts
// (SecurityUtils, createSaslServer).
const digestURI = "zookeeper/zk-sasl-md5"

// DigestMD5 is the mechanism of RFC 2831, for authentication only. Printing it does not
// show the password.
type DigestMD5 struct {
	user     string
	password func() string
}

// NewDigestMD5 returns the mechanism for a user.
func NewDigestMD5(user, password string) DigestMD5 {
	return DigestMD5{user, func() string { return password }}
}

// Name implements [Mechanism].
func (DigestMD5) Name() string { return DigestMD5Name }

// String returns the mechanism and the user.
func (d DigestMD5) String() string { return fmt.Sprintf("%s as %q", DigestMD5Name, d.user) }

// GoString is String.
func (d DigestMD5) GoString() string { return d.String() }

// Start implements [Mechanism]: the server speaks first.
func (d DigestMD5) Start(context.Context, string) ([]byte, func([]byte) ([]byte, error), error) {
	if d.user == "" || d.password() == "" {
		return nil, nil, AuthFailed("it needs a user and a password")
	}
	e := &digestExchange{digest: d}
	return []byte{}, e.next, nil
}

type digestExchange struct {
	digest DigestMD5
	proof  string // that the server must give; "" before the client has given its own
}

func (e *digestExchange) next(challenge []byte) ([]byte, error) {
	if e.proof != "" {
		return nil, e.verify(challenge)
	}
	directives, err := parseDirectives(challenge)
	if err != nil {
		return nil, AuthFailed("the server's challenge is none of DIGEST-MD5 (%w): is its mechanism another?", err)
	}
	if err := directives.check(); err != nil {
		return nil, AuthFailed("the server's challenge is refused: %w", err)
	}
	realm, nonce, utf8 := directives.first("realm"), directives.first("nonce"), directives.first("charset") != ""
	user, userOK := encode(e.digest.user, utf8)
	if !userOK {
		return nil, AuthFailed("the server takes users of ISO 8859-1 alone")
	}
	cnonce := rand.Text()
	hash, hashOK := secretHash(e.digest.user, realm, e.digest.password(), utf8)
	if !hashOK {
		return nil, AuthFailed("the server takes passwords of ISO 8859-1 alone")
	}
	a1 := hexMD5(hash + ":" + nonce + ":" + cnonce)
	prove := func(method string) string {
		return hexMD5(a1 + ":" + nonce + ":00000001:" + cnonce + ":auth:" + hexMD5(method+":"+digestURI))
	}
	e.proof = prove("")
	var b strings.Builder
	if utf8 {
		b.WriteString("charset=utf-8,")
	}
	fmt.Fprintf(&b, "username=%s,", quoted(user))
	if directives["realm"] != nil {
		fmt.Fprintf(&b, "realm=%s,", quoted(realm))
	}
	fmt.Fprintf(&b, "nonce=%s,nc=00000001,cnonce=%s,digest-uri=%s,response=%s,qop=auth",
		quoted(nonce), quoted(cnonce), quoted(digestURI), prove("AUTHENTICATE"))
	return []byte(b.String()), nil
}

// verify checks that the server knows the password too.
func (e *digestExchange) verify(answer []byte) error {
	directives, err := parseDirectives(answer)
	if err != nil || answer == nil || !hmac.Equal([]byte(directives.first("rspauth")), []byte(e.proof)) {
		return AuthFailed("the server does not prove that it knows the password of %q: the password is wrong and the server lets clients go on whose authentication has failed (allowSaslFailedClients), or it is not the server that it seems to be", e.digest.user)
	}
	return nil
}

// secretHash returns H({user:realm:password}). The text is in ISO 8859-1 where all of it
// can be written so.
func secretHash(user, realm, password string, utf8 bool) (string, bool) {
	text := ""
	for i, part := range []string{user, realm, password} {
		encoded, ok := encode(part, false)
		if !ok && utf8 {
			encoded, ok = part, true
		}
		if !ok {
			return "", false
		}
		if i > 0 {
			text += ":"
		}
		text += encoded
	}
	sum := md5.Sum([]byte(text)) //nolint:gosec // as above
	return string(sum[:]), true
}

// encode returns a text in UTF-8, or in ISO 8859-1 if it can be written so.
func encode(text string, utf8 bool) (string, bool) {
	if utf8 {
		return text, true
	}
	bytes := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return "", false
		}
		bytes = append(bytes, byte(r))
	}
	return string(bytes), true
}

func hexMD5(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// directives holds the values of each directive of a challenge or an answer, in their
// order.
type directives map[string][]string

func (d directives) first(name string) string {
	if len(d[name]) == 0 {
		return ""
	}
	return d[name][0]
}

// check refuses a challenge that this client cannot meet.
func (d directives) check() error {
	for _, name := range []string{"nonce", "algorithm"} {
		if len(d[name]) != 1 || d[name][0] == "" {
			return fmt.Errorf("it has %d values of %q", len(d[name]), name)
		}
	}
	if algorithm := d.first("algorithm"); algorithm != "md5-sess" {
		return fmt.Errorf("its algorithm is %.40q", algorithm)
	}
	if charset := d["charset"]; len(charset) > 1 || len(charset) == 1 && !strings.EqualFold(charset[0], "utf-8") {
		return fmt.Errorf("its charset is %.40q", charset)
	}
	if qop := d["qop"]; qop != nil {
		for offer := range strings.SplitSeq(strings.Join(qop, ","), ",") {
			if strings.TrimSpace(offer) == "auth" {
				return nil
			}
		}
		return fmt.Errorf("it offers no authentication alone, only %.40q", qop)
	}
	return nil
}

// maxDirectives is the largest length of a challenge (RFC 2831, 2.1.1 and 2.1.3).
const maxDirectives = 2048

// parseDirectives reads name=value and name="value", with commas between them.
func parseDirectives(text []byte) (directives, error) {
	if len(text) > maxDirectives {
		return nil, fmt.Errorf("it has %d bytes", len(text))
	}
	found := directives{}
	rest := strings.Trim(string(text), " \t\r\n,")
	for rest != "" {
		name, value, ok := strings.Cut(rest, "=")
		name = strings.ToLower(strings.Trim(name, " \t\r\n,"))
		if !ok || name == "" || strings.ContainsAny(name, "\", \t\r\n") {
			return nil, errors.New("it has no list of names and values")
		}
		value = strings.TrimLeft(value, " \t\r\n")
		var err error
		if value, rest, err = cutValue(value); err != nil {
			return nil, err
		}
		found[name] = append(found[name], value)
	}
	return found, nil
}

// cutValue cuts a value off the beginning of a list.
func cutValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ",")
		return strings.TrimRight(value, " \t\r\n"), strings.TrimLeft(rest, " \t\r\n,"), nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case '"':
			rest = strings.TrimLeft(text[i+1:], " \t\r\n")
			if rest != "" && rest[0] != ',' {
				return "", "", errors.New("a value goes on behind its quotes")
			}
			return b.String(), strings.TrimLeft(rest, " \t\r\n,"), nil
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", errors.New("a value has no end")
}
