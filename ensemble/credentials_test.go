package ensemble_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
)

func TestCredentialsShowNoSecret(t *testing.T) {
	c, err := ensemble.ReadCredentials(" digest:user:pa55:word\n")
	if err != nil || c.Scheme() != "digest" || string(c.Secret()) != "user:pa55:word" {
		t.Fatalf("%q, %q, error %v", c.Scheme(), c.Secret(), err)
	}
	holder := struct{ Auth ensemble.Credentials }{c}
	text, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %v", c, c, &c), fmt.Sprintf("%+v %#v", holder, holder), string(text)} {
		if strings.Contains(s, "pa55") || strings.Contains(s, fmt.Sprintf("%x", "pa55")) || strings.Contains(s, fmt.Sprint([]byte("pa55"))[1:12]) {
			t.Errorf("shown: %s", s)
		}
	}
	for _, bad := range []string{"", "pa55", "digest:", ":pa55"} {
		if _, err := ensemble.ReadCredentials(bad); err == nil || strings.Contains(err.Error(), "pa55") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCredentialsOfSASLShowNoSecret(t *testing.T) {
	c, err := ensemble.ReadCredentials("sasl:digest-md5:user:pa55:word\n")
	if err != nil || c.SASL().Name() != "DIGEST-MD5" || c.SASLUsers()["user"] != "pa55:word" || c.ACL()[0] != zk.AuthACL(zk.PermAll)[0] {
		t.Fatalf("%v, users %v, error %v", c.SASL(), c.SASLUsers(), err)
	}
	if again := ensemble.NewCredentials(c.Scheme(), c.Secret()); again.SASLUsers()["user"] != "pa55:word" {
		t.Errorf("in another process the users are %v", again.SASLUsers())
	}
	if s := fmt.Sprintf("%v %+v %#v %v %#v", c, c, c, c.SASL(), c.SASL()); strings.Contains(s, "pa55") {
		t.Errorf("shown: %s", s)
	}
	for bad, says := range map[string]string{
		"sasl:pa55": "sasl:digest-md5:", "sasl:digest-md5": "user:password", "sasl:digest-md5:pa55": "user:password",
		"sasl:digest-md5:pa55:": "user:password", "sasl:plain:user:pa55": "sasl:digest-md5:", "sasl:gssapi:pa55": "keytab",
		"sasl:gssapi:password=pa55": "keytab", "sasl:gssapi:keytab=/nowhere krb5conf=/nowhere": "/nowhere",
	} {
		if _, err := ensemble.ReadCredentials(bad); err == nil || strings.Contains(err.Error(), "pa55") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", bad, err, says)
		}
		scheme, secret, _ := strings.Cut(bad, ":")
		_, _, err := ensemble.NewCredentials(scheme, []byte(secret)).SASL().Start(t.Context(), "zk:2181")
		if !errors.Is(err, zk.ErrAuthFailed) || strings.Contains(err.Error(), "pa55") {
			t.Errorf("%q, in another process: %v", bad, err)
		}
	}
}

func TestNobodysCredentialsOpenNodes(t *testing.T) {
	var nobody ensemble.Credentials
	if nobody.Secret() != nil || nobody.ACL()[0] != zk.WorldACL(zk.PermAll)[0] || nobody.Add(t.Context(), nil) != nil {
		t.Errorf("%v, %v", nobody.Secret(), nobody.ACL())
	}
}
