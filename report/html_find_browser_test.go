package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// search enters a text into the search field and waits for the answer.
func (b *browser) search(text, answer string) {
	b.t.Helper()
	eval[any](b, `document.getElementById("find").select()`)
	b.do(clickOn("find"), chromedp.KeyEvent(kb.Escape), clickOn("find"), chromedp.KeyEvent(text), chromedp.KeyEvent(kb.Enter))
	b.until(`document.getElementById("found").textContent.includes("` + answer + `")`)
}

func TestASearchLeadsToALaneABarOrAnEvent(t *testing.T) {
	header, events := twoHolders(t)
	file := inFile(t, pageOf(t, header, events))
	b := openPage(t, file, 1400, 900, false)
	for _, c := range []struct{ text, found, told string }{
		{"stock", "1 of", "stock"},
		{"process 2", "1 of", "client 2"},
		{"owner C", "1 of", "owner owner C"},
		{"0x1234567890abcdf0", "1 of", "token 0x1234567890abcdf0"},
		{"0x00000000000000a1", "1 of", "session 0x00000000000000a1"},
		{"no such thing", "not found", ""},
	} {
		b.search(c.text, c.found)
		if got := b.text("chosen"); !strings.Contains(got, c.told) {
			t.Errorf("%q leads to %q", c.text, got)
		}
	}
	b.search("owner C", "1 of")
	b.shot("find-1400", false)
	first := b.text("chosen")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.getElementById("found").textContent.startsWith("2 of")`)
	if b.text("chosen") == first {
		t.Errorf("Enter does not lead from %q to the next", first)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.getElementById("find").value === "" && document.getElementById("found").textContent === ""`)
	b.quiet()
	for _, c := range []struct {
		name string
		wide int64
		dark bool
	}{{"find-900-dark", 900, true}, {"find-400", 400, false}} {
		narrow := openPage(t, file, c.wide, 900, c.dark)
		narrow.search("owner C", "1 of")
		if over := eval[float64](narrow, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("the page is %g px too wide for %d", over, c.wide)
		}
		narrow.shot(c.name, false)
		narrow.quiet()
	}
}

func TestThePastIsDrawnAsARunIs(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	p := report.NewPast(begin, time.Time{})
	for _, s := range []report.Stay{
		{Lock: "/locks/a", Recipe: "mutex", Client: "billing-1/4711", Session: "0xa1", Token: histories.Token{Zxid: 0x32}, Asked: at(1), Granted: at(2), Gone: at(12), Lost: true, Ended: "session expired"},
		{Lock: "/locks/a", Recipe: "mutex", Client: "billing-2/812", Session: "0xb2", Token: histories.Token{Zxid: 0x39}, Asked: at(3), Granted: at(12), Gone: at(15), Ended: "released", Ahead: 1},
		{Lock: "/locks/a", Recipe: "mutex", Client: "<b>report</b>", Session: "0xc3", Token: histories.Token{Zxid: 0x40}, Asked: at(4), Gone: at(20), Open: true, Ahead: 2},
	} {
		p.Add(&s)
	}
	var out bytes.Buffer
	if err := p.HTML(t.Context(), &out, at(20)); err != nil {
		t.Fatal(err)
	}
	b := openPage(t, inFile(t, out.String()), 1400, 900, false)
	b.shows(0, 20)
	b.says("billing-1/4711")
	b.says("<b>report</b>")
	b.search("0x32", "1 of 2")
	for _, want := range []string{"billing-1/4711 (0xa1)", "/locks/a", "2026-01-02 03:00:01.000 UTC"} {
		if got := b.text("chosen"); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got := b.text("list"); !strings.Contains(got, "2026-01-02 03:00:12.000 UTC: billing-1/4711 held /locks/a for 10 s, and lost it: session expired") {
		t.Errorf("the events are %q", got)
	}
	b.shot("past-1400", true)
	b.quiet()
	narrow := openPage(t, inFile(t, out.String()), 400, 900, true)
	narrow.shot("past-400-dark", true)
	narrow.quiet()
}
