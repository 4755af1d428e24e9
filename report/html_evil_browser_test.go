package report_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zkverify/zkverify/histories"
)

// evil is a text that a history may hold wherever it may hold text.
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
	b.shows(0.185, 0.315)
	lock, first, second, fault := b.row("✗ orders"), b.row("client 1"), b.row("client 2"), b.says("<img").Y
	for _, y := range []float64{fault, lock, first, second} {
		for _, share := range []float64{0.2, 0.3, 0.5, 0.7, 0.78} {
			b.hover(share, y)
			b.do(chromedp.Sleep(10 * time.Millisecond))
		}
	}
	b.pointAt(0.5, "client 1", tipIncludes("onerror=pwned()"))
	b.focus()
	for range 12 {
		b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("."))
	}
	eval[any](b, `document.getElementById("follow").click()`)
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
