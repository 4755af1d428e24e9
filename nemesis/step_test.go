package nemesis

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

func TestAScheduleThatDoesNotFitTheRunIsRefused(t *testing.T) {
	two := 2
	yours := &ensemble.Ext{} // without a server
	for name, c := range map[string]struct {
		step Step
		on   ensemble.Ensemble
		says string
	}{
		"it fits":                        {Step{At: time.Second, Fault: "down", Pick: fault.Pick{Client: &two}}, yours, ""},
		"servers that are yours":         {Step{Fault: "pause-server"}, yours, "out of reach"},
		"servers of an unknown ensemble": {Step{Fault: "pause-server", Pick: fault.Pick{Server: "9"}}, nil, ""},
		"a server that there is not":     {Step{Fault: "down", Pick: fault.Pick{Server: "1"}}, yours, "server 1 of 0"},
		"after the end of the faults":    {Step{At: time.Minute, Fault: "down"}, nil, "after the faults have ended"},
		"a client that there is not":     {Step{Fault: "down", Pick: fault.Pick{Client: &two}}, nil, "client 2, and there are 2"},
		"an unknown fault":               {Step{Fault: "dwon"}, nil, "unknown fault"},
	} {
		t.Run(name, func(t *testing.T) {
			clients := 3
			if strings.Contains(c.says, "there are 2") {
				clients = 2
			}
			err := Schedule{[]Step{c.step}}.Fits(faults.List(), c.on, clients, time.Minute)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error %v; want %q", err, c.says)
			}
		})
	}
}

func TestAScheduleThatMakesNoSenseIsNotCarriedOut(t *testing.T) {
	w := newWorld(fault.Client{Linked: 1})
	_, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{{Fault: "down"}, {Fault: "latency", Pick: fault.Pick{Params: map[string]string{"latency": "slow"}}}}}, w)
	if err == nil || !strings.Contains(err.Error(), "step 2") || len(w.log) > 0 {
		t.Errorf("error %v, happened: %v", err, w.log)
	}
}

func TestAScheduledDetailReplacesTheDrawnOne(t *testing.T) {
	one := 1
	for name, c := range map[string]struct {
		step Step
		want string
	}{
		"bandwidth":                     {Step{Fault: "bandwidth", Pick: fault.Pick{Params: map[string]string{"bytes-per-second": "5000"}}}, "throttle client 0 to 5000"},
		"slices":                        {Step{Fault: "slicer", Pick: fault.Pick{Params: map[string]string{"size": "3", "pause": "7ms"}}}, "slice client 0 by 3, 7ms"},
		"bytes":                         {Step{Fault: "truncated-reply", Pick: fault.Pick{Params: map[string]string{"bytes": "9"}}}, "truncate client 0 after 9"},
		"the client, as it is":          {Step{Fault: "down", Pick: fault.Pick{Client: &one}}, "down client 1"},
		"the client, unless it is idle": {Step{Fault: "down", Pick: fault.Pick{Client: &one, Aim: fault.AtHolder}}, "down client 0"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}}, fault.Client{Linked: 1})
			c.step.For, c.step.Pick.Links = time.Millisecond, fault.AllLinks
			if c.step.Pick.Client == nil {
				c.step.Pick.Aim = fault.AtHolder
			}
			if _, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{c.step}}, w); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(w.log, "\n"), c.want) {
				t.Errorf("happened: %v; want %s", w.log, c.want)
			}
		})
	}
}
