package links

import "github.com/Shopify/toxiproxy/v2/toxics"

// Toxiproxy's toxics that end a connection leave what comes before them with data
// that nobody takes. Those of the same name here take it until there is no more.
func init() {
	toxics.Register(ending["limit_data"], new(limitData))
	toxics.Register(ending["reset_peer"], new(resetPeer))
}

// ending has the names in Toxiproxy's registry.
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

// takeRest ends when the source of the connection does, if the toxic has closed its
// other side, and else at once: another toxic takes its place.
func takeRest(stub *toxics.ToxicStub) {
	if stub.Closed() {
		for range stub.Input {
		}
	}
}
