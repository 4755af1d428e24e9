package report_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// inView returns the stretch of time that the timeline shows, in seconds.
func (b *browser) inView() (from, to float64) {
	b.t.Helper()
	if _, err := fmt.Sscanf(b.text("range"), "%f s – %f s", &from, &to); err != nil {
		b.t.Fatalf("%q: %v", b.text("range"), err)
	}
	return from, to
}

// shows waits until the timeline shows a stretch of time, as exactly as the figures show.
func (b *browser) shows(from, to float64) {
	b.t.Helper()
	near := (to - from) / 1000
	b.until(fmt.Sprintf(`(() => {
		const [from, to] = document.getElementById("range").textContent.split(" – ").map(parseFloat);
		return Math.abs(from - %g) <= %g && Math.abs(to - %g) <= %g;
	})()`, from, near, to, near))
}

// point converts a share of the lanes' width and a height of the picture to a point of the window.
func (b *browser) point(share, y float64) (float64, float64) {
	b.t.Helper()
	edge := eval[[]float64](b, `(() => { document.getElementById("timeline").scrollIntoView(); const e = document.getElementById("picture").getBoundingClientRect(); return [e.left, e.top, e.width]; })()`)
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

// pointAt moves the pointer to a share of the lanes' width, at the height of the row with
// this name, until an expression about the tip, tip.textContent, is true. It repeats the
// move because the page draws a change in its next frame: the place that was read may be
// the row's place in the frame before.
func (b *browser) pointAt(share float64, name, expression string) {
	b.t.Helper()
	expression = fmt.Sprintf(`(() => { const tip = document.getElementById("tip"); return !tip.hidden && %s; })()`, expression)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		b.hover(share-0.001, b.row(name)) // the browser may not report a pointer that does not move
		b.hover(share, b.row(name))
		if eval[bool](b, expression) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("never so: %s; the tip at %g of %q says %q", expression, share, name, b.text("tip"))
		}
	}
}

// tipIncludes is an expression for pointAt.
func tipIncludes(text string) string { return fmt.Sprintf(`tip.textContent.includes(%q)`, text) }

func (b *browser) focus() {
	b.t.Helper()
	eval[any](b, `document.getElementById("lanes").focus()`)
}

// row returns the height of the first row with this name.
func (b *browser) row(name string) float64 {
	b.t.Helper()
	return b.says(name).Y
}

// whole shows the whole run, and no violation.
func (b *browser) whole() {
	b.t.Helper()
	b.focus()
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("0"))
	b.until(`document.getElementById("now").textContent === ""`)
}

func TestThePageOpensAtTheViolationAndTellsTheTokens(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	// Both clients held the lock from 250 to 300 ms. That is in view with its cause: the fault on
	// client 1 from 200 ms on.
	b.shows(0.185, 0.315)
	if got := b.text("now"); !strings.HasPrefix(got, `Violation 1 of 2: mutual exclusion. process 1 (owner owner B) and process 2 (owner owner C) both held lock "orders"`) {
		t.Errorf("it says %q", got)
	}
	for _, want := range []string{"✗ mutual exclusion violated for 50 ms", "session of process 1 seen to end", "process 2 gets it", "process 1 learns that its link is down", "down: client 1"} {
		b.says(want)
	}
	b.apart()
	const lock, first, second, fault = "✗ orders", "client 1", "client 2", "down: client 1"
	at := func(seconds float64) float64 { return (seconds - 0.185) / (0.315 - 0.185) }
	for _, c := range []struct {
		share float64
		name  string
		want  []string
	}{
		{at(0.28), first, []string{"process 1 holds: orders", "owner owner B", "token 0x1234567890abcdef/5", "depth 1", "session 0x00000000000000a1", "0.110000 s to 0.295000 s, 185 ms", "suspended", "under fault down: client 1"}},
		{at(0.2975), first, []string{"process 1 believes that it holds: orders", "token 0x1234567890abcdef/5", "0.295000 s to 0.300000 s, 5 ms", "stale: session 0x00000000000000a1 was seen to have ended by 0.295000 s, and the client was not told"}},
		{at(0.26), second, []string{"process 2 holds: orders", "owner owner C", "token 0x1234567890abcdf0", "0.250000 s to 0.400000 s, 150 ms"}},
		{at(0.2), second, []string{"process 2 waits (acquire): orders", "0.190000 s to 0.250000 s, 60 ms"}},
		{at(0.31), first, []string{"process 1 told of the loss: orders", "0.300000 s to 0.330000 s, 30 ms"}},
		{at(0.26), lock, []string{"process 1 holds: orders", "process 2 holds: orders"}},
		{at(0.25), fault, []string{"fault down: client 1", "hits client 1", "for 90ms", "0.200000 s to 0.290000 s, 90 ms"}},
	} {
		for _, want := range c.want {
			b.pointAt(c.share, c.name, tipIncludes(want))
		}
	}
	b.hover(0.01, b.row(second))
	b.until(`document.getElementById("tip").hidden`) // there is no bar

	// Along the violations by key, from anywhere, and from the list.
	before := b.text("range")
	b.do(chromedp.KeyEvent("v"))
	b.until(`document.getElementById("now").textContent.startsWith("Violation 2 of 2: loss is told.")`)
	b.until(fmt.Sprintf(`document.getElementById("range").textContent !== %q`, before))
	from, to := b.inView()
	b.do(chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.KeyEvent("-"))
	b.until(fmt.Sprintf(`(() => {
		const [from, to] = document.getElementById("range").textContent.split(" – ").map(parseFloat);
		return Math.abs((to - from) / %g - 0.5) < 0.001;
	})()`, to-from))
	b.do(chromedp.KeyEvent("V", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(`document.getElementById("now").textContent.startsWith("Violation 1 of 2")`)
	b.do(chromedp.KeyEvent("V", chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(`document.getElementById("now").textContent.startsWith("Violation 2 of 2: loss is told.")`)
	eval[any](b, `document.querySelector("#violation-1 .show").click()`)
	b.until(`document.getElementById("now").textContent.startsWith("Violation 1 of 2")`)
	b.shows(0.185, 0.315)
	b.until(`document.activeElement.id === "lanes"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.getElementById("now").textContent === ""`)
	b.quiet()
}

func TestTheTimelineZoomsAndPans(t *testing.T) {
	header, events := twoHolders(t)
	b := openPage(t, inFile(t, pageOf(t, header, events)), 1400, 900, false)
	b.whole()
	b.do(clickOn("fit"))
	b.shows(0, 1)
	first := b.row("client 1")
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
	x, y := b.point(0.25, first)
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
	x, y = b.point(0.5, first)
	left, _ := b.point(0.3, first)
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
	b.shows(0, 1)
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
	b.do(chromedp.KeyEvent(kb.Escape))
	if !eval[bool](b, `parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2`) {
		t.Error("nothing shows that the timeline has the focus")
	}
	tells := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.getElementById("chosen").textContent.includes(%q)`, want))
	}
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	tells("mutex stock, open, 2 clients")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	tells("client 1 (processes 1, 4) at stock")
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	tells("mutex orders, open, 3 clients")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("."))
	tells("process 0 waits in vain (try-acquire): orders: owner owner A, session 0x00000000000000a0, 0.130000 s to 0.150000 s, 20 ms, somebody is ahead")
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("."))
	tells("process 1 waits (acquire): orders: owner owner B, token 0x1234567890abcdef/5, first in the queue, session 0x00000000000000a1, 0.100000 s to 0.110000 s, 10 ms")
	b.do(chromedp.KeyEvent("."))
	tells("process 1 holds: orders: owner owner B, token 0x1234567890abcdef/5, depth 1")
	b.do(chromedp.KeyEvent("."), chromedp.KeyEvent("."))
	tells("process 1 holds again: orders: owner owner B, token 0x1234567890abcdef/5, depth 2")
	b.do(chromedp.KeyEvent(","), chromedp.KeyEvent(","), chromedp.KeyEvent(","))
	tells("process 1 waits (acquire)")
	b.do(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter))
	tells("mutex orders, folded, 3 clients")
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
		"the servers have ended session 0x00000000000000a1", "process 1 is told that it has lost orders", "process 1: it is not known what came of release of orders: no session",
		"phase recovery begins", "process 4 dies without releasing"}
	b.whole()
	listed(strings.Join(all, "; "))
	b.do(chromedp.Click(chromedp.CSS("#sort-faults")), chromedp.Click(chromedp.CSS("#sort-run")))
	listed(strings.Join([]string{all[2], all[4], all[5], all[6], all[8]}, "; "))
	eval[any](b, `document.querySelectorAll("#list button")[1].click()`) // the end of the session, at 295 ms
	b.shows(0, 1)
	b.do(clickOn("zoom-in"))
	eval[any](b, `document.getElementById("follow").click()`)
	b.do(clickOn("next"))
	listed(strings.Join([]string{all[2], all[4], all[5]}, "; "))

	// The median of the slot that is pointed at, and the way to it.
	eval[any](b, `document.getElementById("chart").focus()`)
	b.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.getElementById("reading").textContent.startsWith("acquire, 0.10 s to 0.20 s: 2 went well, p50 about 1 ms, p99 about 10 ms, max 10 ms")`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.shows(0, 0.3)
	b.quiet()
}
