package remote

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/worker"
)

// said feeds a worker with lines and returns its lines.
func said(t *testing.T, lines string, targets ...lock.Target) (said []protocol.Line) {
	t.Helper()
	var out strings.Builder
	if err := worker.Serve(t.Context(), strings.NewReader(lines), &out, targets...); err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(out.String()) {
		var l protocol.Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		said = append(said, l)
	}
	return said
}

// slowToTell makes promises that depend on the settings.
type slowToTell struct{ *inMemory }

func (slowToTell) Promises(s lock.Settings) histories.Promises {
	return histories.Promises{TellsLoss: true, LossBound: 3*s.SessionTimeout + s.TickTime}
}

func TestAWorkerWithOneTargetSaysWhichAndWhatItPromises(t *testing.T) {
	got := said(t, `{"id":1,"do":"promises","client":0,"env":{"session_timeout":2000,"tick":200}}`+"\n", slowToTell{newMemory()})
	hosts := got[0].Hosts
	if hosts == nil || hosts.Name != "memory" || !slices.Equal(hosts.Recipes, []histories.Recipe{histories.Mutex}) || hosts.Promises != nil {
		t.Errorf("its hello hosts %+v; want the one target, whose promises are to be asked for", hosts)
	}
	if p := got[1].Promises; p == nil || p.LossBound != 6200*time.Millisecond || !p.TellsLoss {
		t.Errorf("it promises %+v; want what its target does under these settings", p)
	}
	if got := said(t, `{"id":1,"do":"promises","client":0,"env":{}}`+"\n"); got[0].Hosts != nil || got[1].Error == "" {
		t.Errorf("a worker with all targets says %+v; want a hello without one, and an error", got)
	}
}

func TestAWorkerLeavesFieldsAloneThatItDoesNotKnow(t *testing.T) {
	got := said(t, `{"id":1,"do":"echo","client":0,"of a later version":{"x":[1]}}`+"\n", newMemory())
	if len(got) != 2 || got[1].ID != 1 || got[1].Error != "" {
		t.Errorf("it says %+v", got)
	}
}

func TestAWorkerNamesTheTargetsThatItHosts(t *testing.T) {
	got := said(t, `{"id":1,"do":"open","client":1,"env":{"target":"recipes"}}`+"\n", newMemory())
	if want := `this worker does not host the target "recipes"; it hosts memory`; got[1].Error != want {
		t.Errorf("it says %q, want %q", got[1].Error, want)
	}
}

func TestAWorkerRefusesWhatItCannotRead(t *testing.T) {
	for _, text := range []string{"acquire!\n", `{"id":"1"}` + "\n"} {
		var out strings.Builder
		if err := worker.Serve(t.Context(), strings.NewReader(text), &out, newMemory()); err == nil || !strings.Contains(err.Error(), "cannot read the command") {
			t.Errorf("%q: %v", text, err)
		}
		if !strings.Contains(out.String(), `"event":"hello","protocol":1`) {
			t.Errorf("it said %q", out.String())
		}
	}
}
