package ensemble_test

import (
	"encoding/json"
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

func TestNobodysCredentialsOpenNodes(t *testing.T) {
	var nobody ensemble.Credentials
	if nobody.Secret() != nil || nobody.ACL()[0] != zk.WorldACL(zk.PermAll)[0] || nobody.Add(t.Context(), nil) != nil {
		t.Errorf("%v, %v", nobody.Secret(), nobody.ACL())
	}
}
