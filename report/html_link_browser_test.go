package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/zkverify/zkverify/histories"
)

func TestALinkLeadsToWhatItNames(t *testing.T) {
	header, events := twoHolders(t)
	file := inFile(t, pageOf(t, header, events))
	for _, c := range []struct {
		hash, says string // the text above the lanes
		from, to   float64
	}{
		{"#violation=2", "Violation 2 of 2: loss is told.", -1, -1},
		{"#violation=1&t=0.2-0.4", "Violation 1 of 2: mutual exclusion.", 0.2, 0.4},
		{"#t=0.45-0.55", "", 0.45, 0.55},
		{"#lock=stock", "", 0, 1},
		{"#lock=stock&t=0.45-0.55", "", 0.45, 0.55},
		// A hash without a meaning is ignored.
		{"", "Violation 1 of 2", 0.185, 0.315},
		{"#violation=77", "Violation 1 of 2", 0.185, 0.315},
		{"#t=5-3", "Violation 1 of 2", 0.185, 0.315},
		{"#t=1e3-%22<b>", "Violation 1 of 2", 0.185, 0.315},
		{"#lock=nobody", "Violation 1 of 2", 0.185, 0.315},
		{"#timeline", "Violation 1 of 2", 0.185, 0.315},
	} {
		b := openAt(t, file, c.hash, 1400, 900, false)
		b.until(fmt.Sprintf(`document.getElementById("now").textContent.startsWith(%q) && (%q !== "" || document.getElementById("now").textContent === "")`, c.says, c.says))
		if c.to > 0 {
			b.shows(c.from, c.to)
		}
		if c.hash == "#lock=stock" && eval[string](b, `document.getElementById("which").selectedOptions[0].textContent`) != "stock" {
			t.Errorf("%s shows all locks", c.hash)
		}
		b.quiet()
	}
}

func TestTheAddressSaysWhatIsShown(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	before := eval[int](b, `history.length`)
	hash := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf("location.hash === %q", want))
	}
	hash("") // as it was opened
	b.do(chromedp.KeyEvent("v"))
	hash("#violation=2")
	b.do(chromedp.KeyEvent("V", chromedp.KeyModifiers(chromedp.ModifierShift)))
	hash("#violation=1")
	b.do(chromedp.KeyEvent("0"))
	hash("#violation=1&t=0-1")
	b.whole()
	hash("#timeline")
	b.do(clickOn("zoom-in"))
	hash("#t=0.25-0.75")
	eval[any](b, `(() => { const which = document.getElementById("which"); which.value = [...which.options].find(o => o.textContent === "stock").value; which.dispatchEvent(new Event("change")); })()`)
	hash("#lock=stock&t=0.25-0.75")
	// A change of the hash adds no step to the browser's history, and the hash can be opened again.
	if n := eval[int](b, `history.length`); n != before {
		t.Errorf("there are %d more steps to go back", n-before)
	}
	eval[any](b, `location.hash = "#violation=1&t=0.2-0.4"`)
	b.shows(0.2, 0.4)
	b.until(`document.getElementById("now").textContent.startsWith("Violation 1 of 2")`)
	b.quiet()
}

func TestServersHaveLanes(t *testing.T) {
	header, ordinary := twoHolders(t)
	var events []histories.Event
	paused := &histories.Fault{ID: 9, Name: "pause-server", Targets: []string{"server 2"}}
	for e := range ordinary {
		if e.Time == 400*time.Millisecond {
			events = append(events, histories.Event{Time: e.Time, Type: histories.FaultStart, Process: -1, Fault: paused},
				histories.Event{Time: e.Time, Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: 2, State: histories.Silent}})
		}
		events = append(events, *e)
		if len(events) == 1 {
			for id, state := range map[int]histories.ServerState{1: histories.Leading, 2: histories.Following} {
				events = append(events, histories.Event{Time: e.Time, Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: id, State: state}})
			}
		}
		if e.Time == 710*time.Millisecond {
			events = append(events, histories.Event{Time: e.Time, Type: histories.FaultStop, Process: -1, Fault: paused})
		}
	}
	b := openPage(t, inFile(t, pageOf(t, header, each(events))), 1400, 900, false)
	b.whole()
	for _, want := range []string{"server 1", "server 2", "server 3", "leader", "follower", "does not answer", "paused"} {
		b.says(want)
	}
	b.apart()
	for share, want := range map[float64]string{
		0.2: "server 2: follower0.001000 s to 0.400000 s, 399 ms, as it was asked now and then", 0.5: "server 2: does not answer", 0.6: "fault pause-server: server 2",
	} {
		b.pointAt(share, "server 2", tipIncludes(want))
	}
	b.until(`[...document.querySelectorAll("#list tr")].some(r => r.children[1].textContent === "server 1 is found leading")`)
	b.quiet()
}
