package links

import "github.com/Shopify/toxiproxy/v2/toxics"

// Toxiproxy's toxics that end a connection leave data behind that no goroutine reads. The
// toxics registered here have the same effects, and read until there is no more data.
func init() {
	toxics.Register(ending["limit_data"], new(limitData))
	toxics.Register(ending["reset_peer"], new(resetPeer))
}

// ending maps Toxiproxy's names of toxics to the names under which ours are registered.
var ending = map[string]string{"limit_data": "zkverify-limit_data", "reset_peer": "zkverify-reset_peer"}

type limitData struct{ toxics.LimitDataToxic }

func (l *limitData) Pipe(stub *toxics.ToxicStub) {
	l.LimitDataToxic.Pipe(stub)
	takeRest(stub)
}

type resetPeer struct{ toxics.ResetToxic }

func (r *resetPeer) Pipe(stub *toxics.ToxicStub) {
	r.ResetToxic.Pipe(stub)
	takeRest(stub)
}

// takeRest reads the rest of the connection's data if the toxic has closed its other
// side. Otherwise it returns at once: another toxic takes its place.
func takeRest(stub *toxics.ToxicStub) {
	if stub.Closed() {
		for range stub.Input {
		}
	}
}
