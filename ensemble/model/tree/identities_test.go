package tree

import (
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// The answers of the servers of 3.8.0 and 3.9.6 to whoAmI, and the hashes of Java.
func TestIdentitiesStandInTheOrderOfTheServersTable(t *testing.T) {
	if h := stringHash("zookeeper"); h != 1600681804 {
		t.Errorf("the hash of a string is %d", h)
	}
	local, _ := Authenticate("ip", nil, "127.0.0.1")
	for auth, first := range map[string]string{"nocolon": "digest", "a:b": ""} {
		id, _ := Authenticate("digest", []byte(auth), "127.0.0.1")
		ids := WithIdentity(WithIdentity([]wire.ID{local}, id), id)
		if len(ids) != 2 || first != "" && ids[0].Scheme != first {
			t.Errorf("%s: %v", auth, ids)
		}
	}
}
