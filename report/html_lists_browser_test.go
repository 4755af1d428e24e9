package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/zkverify/zkverify/histories"
)

func TestWhatLocksSayIsListedWhenItIsAskedFor(t *testing.T) {
	header, events := twoHolders(t)
	valid := true
	more := func(yield func(*histories.Event, error) bool) {
		at := time.Duration(0)
		for e, err := range events {
			if at = e.Time; !yield(e, err) {
				return
			}
		}
		yield(&histories.Event{Time: at, Type: histories.Says, Process: 1, Lock: "orders", Saying: &histories.Saying{Asked: at, Valid: &valid}}, nil)
	}
	b := openPage(t, inFile(t, pageOf(t, header, more)), 1400, 900, false)
	const listed = `[...document.querySelectorAll("#list tr")].some(r => r.children[1].textContent.startsWith("process 1 asks orders: it is valid"))`
	b.whole()
	b.until(`document.querySelectorAll("#list tr").length > 5 && !` + listed)
	b.until(`document.getElementById("sort-says").parentNode.textContent === " what locks say of themselves (1)"`)
	b.do(chromedp.Click(chromedp.CSS("#sort-says")))
	b.until(listed)
	b.quiet()
}

func TestFiftyClientsForTenMinutesAreASmallPage(t *testing.T) {
	s := synthetic{clients: 50, length: 10 * time.Minute, rest: 300 * time.Millisecond}
	if raceEnabled {
		s.length = time.Minute // the race detector needs no longer run
	}
	started := time.Now()
	page := pageOf(t, s.header(), s.events())
	t.Logf("%d bytes, drawn, judged and written in %v", len(page), time.Since(started))
	if len(page) > 10<<20 {
		t.Errorf("the page takes %d bytes", len(page))
	}
	b := openPage(t, inFile(t, page), 1400, 900, false)
	t.Logf("%s events, ready after %v of processor time, and %.0f ms after it was asked for",
		eval[string](b, `[...document.querySelectorAll(".facts div")].find(d => d.firstChild.textContent === "events").lastChild.textContent`), b.worked(), eval[float64](b, `performance.getEntriesByName("ready")[0].startTime`))
	b.shot("fifty-light-1400", true)
	b.whole()
	b.shows(0, s.length.Seconds())
	b.do(clickOn("unfold"))
	b.shot("fifty-unfolded", true)
	// Only lanes in view are drawn: below them, others come into view.
	eval[any](b, `document.getElementById("lanes").scrollTop = 2000`)
	b.do(clickOn("next"))
	b.until(`/^Violation 1 of \d+.*: mutual exclusion/.test(document.getElementById("now").textContent)`)
	b.pointAt(0.5, "client", `/process \d+ holds: lock-\d/.test(tip.textContent)`)
	b.shot("fifty-jump", false)
	b.quiet()
}

// A violation that is too short to be seen in the view is shown enlarged, too.
func TestAShortViolationIsEnlarged(t *testing.T) {
	h, err := histories.ReadFile("testdata/zk-lock.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	file := inFile(t, pageOf(t, h.Header, each(h.Events)))
	for _, c := range []struct {
		width int64
		dark  bool
	}{{1400, false}, {900, true}, {400, false}} {
		b := openPage(t, file, c.width, 900, c.dark)
		b.says("✗ lock-0")
		b.shot(fmt.Sprintf("violation-%d", c.width), true)
		b.do(clickOn("fit"))
		b.until(`!document.getElementById("overlap").hidden && document.getElementById("enlarged").texts.some(t => t.text === "✗ lock-0")`)
		if from, _ := b.inView(); from != 0 {
			t.Errorf("the whole run begins at %g s", from)
		}
		b.shot(fmt.Sprintf("whole-%d", c.width), true)
		for range 40 {
			if eval[bool](b, `document.getElementById("overlap").hidden`) {
				break
			}
			eval[any](b, `document.getElementById("zoom-in").click()`)
			b.until(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
		}
		if !eval[bool](b, `document.getElementById("overlap").hidden`) {
			t.Error("what can be seen in the view is enlarged, too")
		}
		b.quiet()
	}
}
