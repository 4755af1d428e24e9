package service

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Names of the server in DIGEST-MD5.
const (
	saslRealm = "zk-sasl-md5"
	saslURI   = "zookeeper/" + saslRealm
)

// saslState is the progress of a connection's authentication. It never starts anew.
type saslState struct {
	nonce string // given to the client
	over  bool
}

// sasl answers a token (ZooKeeperServer.processSasl, and the JDK's DigestMD5Server). A
// server without users has no SASL, and answers any token with none.
func (c *Connection) sasl(xid int32, body []byte) {
	var r wire.SASLToken
	if _, err := wire.Decode(body, &r); err != nil {
		c.close()
		return
	}
	users := c.service.settings.SASLUsers
	switch {
	case users == nil:
		c.reply(wire.ReplyHeader{Xid: xid}, &wire.SASLToken{})
	case c.saslState.nonce == "": // the content of the first token does not matter
		c.saslState.nonce = c.nonce()
		challenge := fmt.Sprintf(`realm="%s",nonce="%s",charset=utf-8,algorithm=md5-sess`, saslRealm, c.saslState.nonce)
		c.reply(wire.ReplyHeader{Xid: xid}, &wire.SASLToken{Token: []byte(challenge)})
	default:
		user, proof, ok := c.verify(string(r.Token), users)
		if !ok || c.saslState.over {
			c.refuse(xid)
			return
		}
		c.saslState.over = true
		c.auth = tree.WithIdentity(c.auth, wire.ID{Scheme: "sasl", ID: user})
		c.reply(wire.ReplyHeader{Xid: xid}, &wire.SASLToken{Token: []byte("rspauth=" + proof)})
	}
}

// refuse ends a connection whose client has not proved its identity.
func (c *Connection) refuse(xid int32) {
	code := wire.AuthFailed
	if c.service.settings.DemandSASL {
		code = wire.SessionClosedRequireSASL
	}
	c.reply(wire.ReplyHeader{Xid: xid, Err: code}, &wire.SASLToken{})
	c.close()
}

// demanded reports whether the client has to authenticate before its other requests, and
// has not.
func (c *Connection) demanded() bool {
	return c.service.settings.DemandSASL && !slices.ContainsFunc(c.auth, func(id wire.ID) bool { return id.Scheme == "sasl" })
}

// nonce returns another value for each connection. It need not be secret.
func (c *Connection) nonce() string {
	seed := fmt.Sprint(c.service.settings.ID, c.session, c.id, c.service.now)
	a, b := md5.Sum([]byte(seed)), md5.Sum([]byte(seed+"'"))
	return base64.StdEncoding.EncodeToString(append(a[:], b[:14]...))
}

// verify checks a client's response and returns the user, and the server's own proof.
func (c *Connection) verify(response string, users map[string]string) (user, proof string, ok bool) {
	d := responseDirectives(response)
	utf8 := d["charset"] == "utf-8"
	user = d["username"]
	if !utf8 {
		user = fromLatin1(user)
	}
	password, known := users[user]
	if !known || d["realm"] != saslRealm || d["nonce"] != c.saslState.nonce || d["cnonce"] == "" ||
		!slices.Contains([]string{"", "auth"}, d["qop"]) || !strings.EqualFold(d["digest-uri"], saslURI) {
		return "", "", false
	}
	secret := md5.Sum([]byte(toLatin1(user) + ":" + saslRealm + ":" + toLatin1(password)))
	key := md5Hex(string(secret[:]) + ":" + c.saslState.nonce + ":" + d["cnonce"])
	prove := func(method string) string {
		return md5Hex(key + ":" + c.saslState.nonce + ":00000001:" + d["cnonce"] + ":auth:" + md5Hex(method+":"+d["digest-uri"]))
	}
	return user, prove(""), d["response"] == prove("AUTHENTICATE")
}

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// toLatin1 returns a text in the form in which it is hashed: in ISO 8859-1, if it can be
// written so.
func toLatin1(text string) string {
	var b []byte
	for _, r := range text {
		if r > 0xff {
			return text
		}
		b = append(b, byte(r))
	}
	return string(b)
}

func fromLatin1(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

// responseDirectives parses name=value and name="value", with commas between them. It
// returns no directives of a malformed text.
func responseDirectives(text string) map[string]string {
	d := map[string]string{}
	for text != "" {
		name, rest, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || d[name] != "" {
			return nil
		}
		if !strings.HasPrefix(rest, `"`) {
			d[name], text, _ = strings.Cut(rest, ",")
			continue
		}
		var value []byte
		i := 1
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] == '\\' && i+1 < len(rest) {
				i++
			}
			value = append(value, rest[i])
		}
		if i >= len(rest) {
			return nil
		}
		d[name], text = string(value), strings.TrimPrefix(rest[i+1:], ",")
	}
	return d
}
