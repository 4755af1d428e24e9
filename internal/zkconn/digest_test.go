package zkconn

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// respond returns the directives with which a client answers a challenge.
func respond(t *testing.T, user, password, challenge string) (directives, *digestExchange) {
	t.Helper()
	e := &digestExchange{digest: NewDigestMD5(user, password)}
	token, err := e.next([]byte(challenge))
	if err != nil {
		t.Fatal(err)
	}
	d, err := parseDirectives(token)
	if err != nil {
		t.Fatalf("%q: %v", token, err)
	}
	return d, e
}

// The example of RFC 2831, section 4, except for ZooKeeper's own values and the client's
// random ones.
func TestTheHashesAreThoseOfTheRFC(t *testing.T) {
	hash, ok := secretHash("chris", "elwood.innosoft.com", "secret", true)
	if !ok {
		t.Fatal("it cannot be hashed")
	}
	a1 := hexMD5(hash + ":OA6MG9tEQGm2hh:OA6MHXh6VqTrRk")
	for method, want := range map[string]string{"AUTHENTICATE": "d388dad90d4bbd760a152321f2143af7", "": "ea40f60335c427b5527b84dbabcdfffd"} {
		if got := hexMD5(a1 + ":OA6MG9tEQGm2hh:00000001:OA6MHXh6VqTrRk:auth:" + hexMD5(method+":imap/elwood.innosoft.com")); got != want {
			t.Errorf("%q: %s, want %s", method, got, want)
		}
	}
}

func TestTheServersProofIsTaken(t *testing.T) {
	_, e := respond(t, "app", "secret", challenge)
	if token, err := e.next([]byte("rspauth=" + e.proof)); token != nil || err != nil {
		t.Errorf("%q, %v", token, err)
	}
	_, e = respond(t, "app", "secret", challenge)
	if _, err := e.next([]byte("rspauth=" + strings.Repeat("0", 32))); err == nil {
		t.Error("a wrong one is taken")
	}
}

func TestClientsDrawAnotherNonceEachTime(t *testing.T) {
	a, _ := respond(t, "app", "secret", challenge)
	b, _ := respond(t, "app", "secret", challenge)
	if a.first("cnonce") == b.first("cnonce") || a.first("response") == b.first("response") {
		t.Error("two authentications are the same")
	}
}

// Users, realms and nonces of any letters come back unchanged.
func TestAnyUserIsWrittenAsItIs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		user := rapid.StringN(1, 20, -1).Draw(rt, "user")
		nonce := rapid.StringMatching(`[ -~]{1,20}`).Draw(rt, "nonce")
		d, _ := respond(t, user, "secret", fmt.Sprintf("realm=%s,nonce=%s,charset=utf-8,algorithm=md5-sess", quoted(user), quoted(nonce)))
		if d.first("username") != user || d.first("realm") != user || d.first("nonce") != nonce {
			rt.Fatalf("%q became %q, and %q %q", user, d["username"], nonce, d["nonce"])
		}
	})
}

func TestNoPrintingShowsThePassword(t *testing.T) {
	const secret = "pa55word"
	m := NewDigestMD5("app", secret)
	within := struct{ M any }{m}
	shown := fmt.Sprintf("%v %+v %#v %s %q %v %+v %#v", m, m, m, m, m, within, within, within)
	if strings.Contains(shown, secret) || !strings.Contains(shown, "app") {
		t.Error(shown)
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add([]byte(challenge))
	f.Add([]byte(`realm="a\`))
	f.Add([]byte(`a=b,,c = "d" ,`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := &digestExchange{digest: NewDigestMD5("app", "secret")}
		token, err := e.next(text)
		if (err == nil) != (token != nil) {
			t.Fatalf("%q, %v", token, err)
		}
		if err == nil {
			if _, err := e.next(text); err == nil {
				t.Fatalf("%q proves that its sender knows the password", text)
			}
		}
	})
}
