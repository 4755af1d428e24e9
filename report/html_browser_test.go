package report_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zkverify/zkverify/histories"
)

// inView returns the stretch of time that the timeline shows, in seconds.
func (b *browser) inView() (from, to float64) {
	b.t.Helper()
	if _, err := fmt.Sscanf(b.text("range"), "%f s – %f s", &from, &to); err != nil {
		b.t.Fatalf("%q: %v", b.text("range"), err)
	}
	return from, to
}

// shows waits until the timeline shows a stretch of time, as near as the figures tell.
func (b *browser) shows(from, to float64) {
	b.t.Helper()
	near := (to - from) / 1000
	b.until(fmt.Sprintf(`(() => {
		const [from, to] = document.getElementById("range").textContent.split(" – ").map(parseFloat);
		return Math.abs(from - %g) <= %g && Math.abs(to - %g) <= %g;
	})()`, from, near, to, near))
}

// point returns where in the window a share of the lanes' width is, and a height of the picture.
func (b *browser) point(share, y float64) (float64, float64) {
	b.t.Helper()
	edge := eval[[]float64](b, `(() => { const e = document.getElementById("picture").getBoundingClientRect(); return [e.left, e.top, e.width]; })()`)
	const names = 150 // the column with the names, in a wide window
	return edge[0] + names + share*(edge[2]-names), edge[1] + y
}

func (b *browser) mouse(params input.DispatchMouseEventParams) {
	b.t.Helper()
	command(b, input.DispatchMouseEvent, params)
}

func (b *browser) hover(share, y float64) {
	b.t.Helper()
	px, py := b.point(share, y)
	b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: px, Y: py})
}

func (b *browser) focus() {
	b.t.Helper()
	eval[any](b, `document.getElementById("lanes").focus()`)
}

// Where rows are when there are faults, and a violation of two is looked at.
const (
	firstFault  = 20 + 22 + 2 + 6
	pinnedLock  = 91 + 13
	firstParty  = 91 + 26 + 9
	secondParty = firstParty + 18
)

func TestThePageJumpsToTheViolationAndTellsTheTokens(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	b.shows(0, 1)
	b.do(clickOn("next"))
	// Both held from 250 to 300 ms: that is in the middle.
	b.shows(0.175, 0.375)
	if got := b.text("now"); !strings.HasPrefix(got, `Violation 1 of 3: mutual exclusion. process 1 (owner owner B) and process 2 (owner owner C) both held lock "orders"`) {
		t.Errorf("it says %q", got)
	}
	for _, c := range []struct {
		share, y float64
		want     []string
	}{
		{0.5, firstParty, []string{"process 1 holds: orders", "owner owner B", "token 0x1234567890abcdef/5", "depth 1", "session 0x00000000000000a1", "0.110000 s to 0.300000 s, 190 ms", "suspended", "under fault down: client 1"}},
		{0.5, secondParty, []string{"process 2 holds: orders", "owner owner C", "token 0x1234567890abcdf0", "0.250000 s to 0.400000 s, 150 ms"}},
		{0.2, secondParty, []string{"process 2 waits (acquire): orders", "0.190000 s to 0.250000 s, 60 ms"}},
		{0.7, firstParty, []string{"process 1 lost: orders", "0.300000 s to 0.330000 s, 30 ms"}},
		{0.78, firstParty, []string{"process 1 releases (release): orders", "no session"}},
		{0.5, pinnedLock, []string{"process 1 holds: orders", "process 2 holds: orders"}},
		{0.3, firstFault, []string{"fault down: client 1", "hits client 1", "for 90ms", "0.200000 s to 0.290000 s, 90 ms"}},
	} {
		b.hover(c.share, c.y)
		for _, want := range c.want {
			b.until(fmt.Sprintf(`!document.getElementById("tip").hidden && document.getElementById("tip").textContent.includes(%q)`, want))
		}
	}
	b.hover(0.95, firstParty)
	b.until(`document.getElementById("tip").hidden`) // nothing is there

	// Along the violations by key, from anywhere, and from the list.
	b.do(chromedp.KeyEvent("v"))
	b.until(`document.getElementById("now").textContent.startsWith("Violation 2 of 3: reentrancy.")`)
	b.do(chromedp.KeyEvent("V", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(`document.getElementById("now").textContent.startsWith("Violation 1 of 3")`)
	b.do(chromedp.KeyEvent("V", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(`document.getElementById("now").textContent.startsWith("Violation 3 of 3: loss is told.")`)
	eval[any](b, `document.querySelector("#violation-1 .show").click()`)
	b.until(`document.getElementById("now").textContent.startsWith("Violation 1 of 3")`)
	b.shows(0.175, 0.375)
	b.until(`document.activeElement.id === "lanes"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.getElementById("now").textContent === ""`)
	b.quiet()
}

func TestTheTimelineZoomsAndPans(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	eval[any](b, `document.getElementById("timeline").scrollIntoView()`)
	b.shows(0, 1)
	t.Log("with buttons")
	b.do(clickOn("zoom-in"))
	b.shows(0.25, 0.75)
	b.do(clickOn("later"))
	b.shows(0.5, 1)
	b.do(clickOn("earlier"))
	b.shows(0.25, 0.75)
	b.do(clickOn("zoom-out"))
	b.shows(0, 1)
	b.do(clickOn("zoom-in"), clickOn("fit"))
	b.shows(0, 1)

	t.Log("with keys")
	b.focus()
	b.do(chromedp.KeyEvent("+"), chromedp.KeyEvent("+"))
	b.shows(0.375, 0.625)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.shows(0.425, 0.675)
	b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("-"))
	b.shows(0.2, 0.7)
	b.do(chromedp.KeyEvent("0"))
	b.shows(0, 1)

	t.Log("with the wheel, around the pointer")
	x, y := b.point(0.25, firstParty)
	b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: x, Y: y, DeltaX: tiny, DeltaY: -200})
	b.until(`parseFloat(document.getElementById("range").textContent) > 0.05`)
	from, to := b.inView()
	if want := math.Exp(-200.0 / 350); math.Abs(to-from-want) > 0.001 || math.Abs((0.25-from)/(to-from)-0.25) > 0.001 {
		t.Errorf("shows %g to %g", from, to)
	}
	b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: x, Y: y, DeltaX: 100, DeltaY: tiny})
	b.until(fmt.Sprintf(`parseFloat(document.getElementById("range").textContent) > %g`, from))

	t.Log("by dragging")
	b.do(clickOn("fit"), clickOn("zoom-in"))
	b.shows(0.25, 0.75)
	x, y = b.point(0.5, firstParty)
	left, _ := b.point(0.3, firstParty)
	b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1})
	b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: left, Y: y, Button: input.MouseButtonLeft, Buttons: 1})
	b.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, X: left, Y: y, Button: input.MouseButtonLeft, ClickCount: 1})
	b.shows(0.35, 0.85)

	t.Log("to the end of what can be told apart")
	b.focus()
	for range 40 {
		b.do(chromedp.KeyEvent("+"))
	}
	b.until(`document.getElementById("range").textContent.includes("(100 ns)")`)
	for range 40 {
		b.do(chromedp.KeyEvent("-"))
	}
	b.shows(-0.02, 1.02)
	b.quiet()
}

// tiny stands for 0, which the browser takes for missing.
const tiny = 1e-9

func TestTheTimelineIsReadByKeyboardAlone(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	// Tab leads there, past everything else that can be used.
	for n := 0; !eval[bool](b, `document.activeElement.id === "lanes"`); n++ {
		if n > 60 {
			t.Fatal("Tab does not lead to the timeline")
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	if !eval[bool](b, `parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2`) {
		t.Error("nothing shows that the timeline has the focus")
	}
	says := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.getElementById("chosen").textContent.includes(%q)`, want))
	}
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	says("mutex stock, open, 2 clients")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	says("client 1 (processes 1, 4) at stock")
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	says("mutex orders, open, 3 clients")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("."))
	says("process 0 waits in vain (try-acquire): orders: owner owner A, session 0x00000000000000a0, 0.130000 s to 0.150000 s, 20 ms, somebody is ahead")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("."))
	says("process 1 waits (acquire): orders: owner owner B, token 0x1234567890abcdef/5, first in the queue, session 0x00000000000000a1, 0.100000 s to 0.110000 s, 10 ms")
	b.do(chromedp.KeyEvent("."))
	says("process 1 holds: orders: owner owner B, token 0x1234567890abcdef/5, depth 1")
	b.do(chromedp.KeyEvent("."), chromedp.KeyEvent("."))
	says("process 1 holds again: orders: owner owner B, token 0x1234567890abcdef/5, depth 2")
	b.do(chromedp.KeyEvent(","), chromedp.KeyEvent(","), chromedp.KeyEvent(","))
	says("process 1 waits (acquire)")
	b.do(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter))
	says("mutex orders, folded, 3 clients")
	b.quiet()
}

func TestThePageIsDarkWhereTheSystemIsAndWhereItIsAskedTo(t *testing.T) {
	header, events := twoHolders(t)
	file := inFile(t, pageOf(t, header, events))
	b := openPage(t, file, 1400, 900, true)
	const page = `getComputedStyle(document.body).backgroundColor`
	const light, dark = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
	if got := eval[string](b, page); got != dark {
		t.Errorf("where the system is dark, the page is %s", got)
	}
	painted := func(isDark bool) {
		t.Helper()
		b.until(fmt.Sprintf(`(() => {
			const copy = Object.assign(document.createElement("canvas"), {width: 9, height: 60}).getContext("2d", {willReadFrequently: true});
			copy.drawImage(document.getElementById("picture"), 0, 0);
			const [red, , , solid] = copy.getImageData(4, 50, 1, 1).data;
			return solid === 255 && (red < 128) === %v;
		})()`, isDark))
	}
	painted(true)
	for _, step := range []struct{ says, page string }{
		{"Colors: light", light}, {"Colors: dark", dark}, {"Colors: as the system", dark},
	} {
		b.do(clickOn("theme"))
		if got := b.text("theme"); got != step.says {
			t.Errorf("the switch says %q, want %q", got, step.says)
		}
		if got := eval[string](b, page); got != step.page {
			t.Errorf("%s: the page is %s", step.says, got)
		}
		painted(step.page == dark)
	}
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}})
	b.until(page + ` === "` + light + `"`)
	painted(false)
	b.quiet()
}

func TestThePageFitsANarrowWindow(t *testing.T) {
	header, events := twoHolders(t)
	for _, dark := range []bool{false, true} {
		b := openPage(t, inFile(t, pageOf(t, header, events)), 500, 900, dark)
		if wide := eval[float64](b, `document.documentElement.scrollWidth`); wide > 500 {
			t.Errorf("the page is %g wide", wide)
		}
		b.quiet()
	}
}

func TestEventsAndLatenciesLeadIntoTheTimeline(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	listed := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`[...document.querySelectorAll("#list tr")].map(r => r.children[1].textContent).join("; ") === %q`, want))
	}
	all := []string{"phase chaos begins", "fault down on client 1 begins", "process 1 is told that its lease of orders is suspended: the link is down", "fault down on client 1 ends",
		"the servers have ended session 0x00000000000000a1", "process 1 is told that it has lost orders", "process 1: nobody knows what came of release of orders: no session",
		"phase recovery begins", "process 4 dies without releasing"}
	listed(strings.Join(all, "; "))
	b.do(chromedp.Click(chromedp.CSS("#sort-faults")), chromedp.Click(chromedp.CSS("#sort-run")))
	listed(strings.Join([]string{all[2], all[4], all[5], all[6], all[8]}, "; "))
	eval[any](b, `document.querySelectorAll("#list button")[1].click()`) // the end of the session, at 295 ms
	b.shows(-0.02, 0.98)
	b.do(clickOn("zoom-in"))
	eval[any](b, `document.getElementById("follow").click()`)
	b.do(clickOn("next"))
	listed(strings.Join([]string{all[2], all[4], all[5], all[6]}, "; "))

	// The median of the slot that is pointed at, and the way to it.
	eval[any](b, `document.getElementById("chart").focus()`)
	b.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.getElementById("reading").textContent.startsWith("acquire, 0.10 s to 0.20 s: 2 went well, p50 about 1 ms, p99 about 10 ms, max 10 ms")`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.shows(0, 0.3)
	b.quiet()
}

// evil is what a history may hold anywhere that text may stand.
const evil = `<img src=x onerror=pwned()></script><script>pwned()</script><!--"'` + "`]]>&lt;\u2028${pwned()}\\"

func TestTextOfAHistoryIsNeverMarkup(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	evil := evil + `<link rel=stylesheet href="` + server.URL + `"><iframe src="` + server.URL + `"></iframe><a href="javascript:pwned()">x</a>`
	header, ordinary := twoHolders(t)
	header.Target, header.Recipe, header.Ensemble, header.ZooKeeper = evil+"t", evil+"r", evil+"e", evil+"z"
	header.Locks = nil
	header.Options = map[string]string{evil: evil, "target": evil, "duration": evil, "clients": "3"}
	var events []histories.Event
	for e, err := range ordinary {
		if err != nil {
			t.Fatal(err)
		}
		e := *e
		if e.Lock != "" {
			e.Lock += evil + "lock"
		}
		if e.Owner != "" {
			e.Owner += evil + "owner"
		}
		if e.Session != "" {
			e.Session += evil + "session"
		}
		if e.Error != "" {
			e.Error = evil + "error"
		}
		if e.Fault != nil {
			f := *e.Fault
			f.Name, f.Targets, f.Params = evil+"fault", []string{evil + "hit"}, map[string]string{evil: evil}
			e.Fault = &f
		}
		events = append(events, e)
	}
	page := pageOf(t, header, each(events))
	if strings.Contains(page, "<img") || strings.Count(strings.ToLower(page), "<script") != 2 || strings.Count(strings.ToLower(page), "</script") != 2 || strings.Contains(page, "<!--") {
		t.Error("text of the history stands in the page as it is")
	}
	b := openPage(t, inFile(t, page), 1400, 900, false)
	eval[any](b, `window.pwnedTimes = 0; window.pwned = () => { window.pwnedTimes++; }`)
	b.do(clickOn("next"))
	b.shows(0.175, 0.375)
	for _, y := range []float64{firstFault, pinnedLock, firstParty, secondParty} {
		for _, share := range []float64{0.2, 0.3, 0.5, 0.7, 0.78} {
			b.hover(share, y)
			b.do(chromedp.Sleep(10 * time.Millisecond))
		}
	}
	b.hover(0.5, firstParty)
	b.until(`document.getElementById("tip").textContent.includes("onerror=pwned()")`)
	b.focus()
	for range 12 {
		b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("."))
	}
	b.do(clickOn("follow"))
	for _, id := range []string{"which", "list", "now", "chosen"} {
		b.until(fmt.Sprintf(`document.getElementById(%q).textContent.includes("<img src=x")`, id))
	}
	if n := eval[int](b, `document.querySelectorAll("img, iframe, link, script[src], a[href^=javascript]").length`); n != 0 {
		t.Errorf("text of the history has become %d elements", n)
	}
	if n := eval[int](b, `window.pwnedTimes`); n != 0 {
		t.Errorf("text of the history has run %d times", n)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
	b.quiet()
}

func TestThePolicyOfThePageForbidsScriptsOfOthersAndTheNetwork(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	b.quiet()
	eval[int](b, `window.ran = 0, window.refused = 0, document.addEventListener("securitypolicyviolation", () => { window.refused++; }),
		document.body.append(Object.assign(document.createElement("script"), {textContent: "window.ran = 1"})),
		document.body.append(Object.assign(document.createElement("img"), {src: "`+server.URL+`"})),
		fetch("`+server.URL+`").catch(() => {}), 0`)
	b.until(`window.refused >= 3`)
	if eval[int](b, `window.ran`) != 0 {
		t.Error("a script that the page does not come with has run")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestFiftyClientsForTenMinutesAreASmallPage(t *testing.T) {
	s := synthetic{clients: 50, length: 10 * time.Minute, rest: 300 * time.Millisecond}
	if raceEnabled {
		s.length = time.Minute // the race detector has seen all there is by then
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
	b.shows(0, s.length.Seconds())
	b.do(clickOn("unfold"))
	b.shot("fifty-unfolded", true)
	// Only lanes in view are drawn: below them, others come into view.
	eval[any](b, `document.getElementById("lanes").scrollTop = 2000`)
	b.do(clickOn("next"))
	b.until(`/^Violation 1 of \d+: mutual exclusion/.test(document.getElementById("now").textContent)`)
	b.hover(0.5, firstParty)
	b.until(`/process \d+ holds: lock-\d/.test(document.getElementById("tip").textContent)`)
	b.shot("fifty-jump", false)
	b.quiet()
}
