package report_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium returns the browser, or skips the test. The names are those of ensemble/install.sh.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("ZKVERIFY_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium: run sh ensemble/install.sh --chromium")
	return ""
}

// browser is a page that is open in a headless Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	trouble  []string // complaints of the console, the page and the policy
	requests []string // fetches, without the page itself
}

// shared is the one browser of all tests: each opens windows of its own in it.
var shared struct {
	sync.Mutex
	ctx  context.Context
	stop func()
}

func TestMain(m *testing.M) {
	status := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(status)
}

// start starts the browser if no test has.
func start(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	path := chromium(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx == nil {
		dir, err := os.MkdirTemp("", "zkverify-browser-*")
		if err != nil {
			t.Fatal(err)
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir), chromedp.WSURLReadTimeout(2*time.Minute))
		allocated, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stop := chromedp.NewContext(allocated)
		shared.stop = func() {
			chromedp.Cancel(ctx) //nolint:errcheck // the tests are over
			stop()
			stopAll()
			os.RemoveAll(dir) //nolint:errcheck // it is in the temporary folder
		}
		if err := chromedp.Do(ctx); err != nil {
			shared.stop()
			shared.stop = nil
			t.Fatal("Chromium does not start: ", err)
		}
		shared.ctx = ctx
	}
	return shared.ctx
}

// openPage opens a page in a window of a size, in light or dark. It ends with the test.
func openPage(t *testing.T, file string, width, height int64, dark bool) *browser {
	t.Helper()
	return openAt(t, file, "", width, height, dark)
}

// openAt opens a page with a hash after its address.
func openAt(t *testing.T, file, hash string, width, height int64, dark bool) *browser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(start(t))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	url := "file://" + file
	b.do() // opens the window
	if err := chromedp.Listen(ctx, func(event any) { b.heard(event, url) }); err != nil {
		t.Fatal(err)
	}
	command(b, network.Enable, network.EnableParams{})
	command(b, log.Enable, cdp.Empty{})
	command(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	command(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: keepTexts})
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url+hash))
	b.until(`document.documentElement.dataset.ready`)
	return b
}

// keepTexts makes each canvas keep the texts that are drawn on it, until it is cleared.
const keepTexts = `(() => {
	const proto = CanvasRenderingContext2D.prototype, { fillText, clearRect } = proto;
	proto.clearRect = function (...args) {
		this.canvas.texts = [];
		return clearRect.apply(this, args);
	};
	proto.fillText = function (...args) {
		const size = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
		(this.canvas.texts ||= []).push({ text: args[0], x: args[1], y: args[2], width: this.measureText(args[0]).width, height: size });
		return fillText.apply(this, args);
	};
})()`

// drawnText is a text on a canvas; Y is its middle.
type drawnText struct {
	Text                string
	X, Y, Width, Height float64
}

// texts returns the texts in the timeline.
func (b *browser) texts() []drawnText {
	b.t.Helper()
	return eval[[]drawnText](b, `document.getElementById("picture").texts`)
}

// says waits until a text with this prefix is drawn in the timeline, and returns the first one.
func (b *browser) says(prefix string) drawnText {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.getElementById("picture").texts.some(t => t.text.startsWith(%q))`, prefix))
	for _, text := range b.texts() {
		if strings.HasPrefix(text.Text, prefix) {
			return text
		}
	}
	b.t.Fatalf("%q is not drawn any more", prefix)
	return drawnText{}
}

// apart fails the test if texts of the timeline overprint each other.
func (b *browser) apart() {
	b.t.Helper()
	all := b.texts()
	for i, p := range all {
		for _, q := range all[:i] {
			if p.X < q.X+q.Width && q.X < p.X+p.Width && 2*math.Abs(p.Y-q.Y) < 0.9*(p.Height+q.Height) {
				b.t.Errorf("%+v and %+v overprint each other", p, q)
			}
		}
	}
}

// command sends a command of the protocol.
func command[P, R any](b *browser, c cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.t.Fatal(err)
	}
}

// heard notes events that a page should not cause.
func (b *browser) heard(event any, url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.trouble = append(b.trouble, "console."+string(e.Type))
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.trouble = append(b.trouble, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		b.trouble = append(b.trouble, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		// A blob of the page's own is no fetch.
		if !strings.HasPrefix(e.Request.URL, url) {
			b.requests = append(b.requests, e.Request.URL)
		}
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// worked returns the processor time of the page so far.
func (b *browser) worked() time.Duration {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range result.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	b.t.Fatal("the browser does not tell")
	return 0
}

// text returns the text of an element.
func (b *browser) text(id string) string {
	b.t.Helper()
	return eval[string](b, `document.getElementById("`+id+`").textContent`)
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !eval[bool](b, "Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("never so: %s", expression)
		}
	}
}

// shot keeps a picture of the page where ZKVERIFY_SCREENSHOTS says, for people to look at.
func (b *browser) shot(name string, whole bool) {
	b.t.Helper()
	dir := os.Getenv("ZKVERIFY_SCREENSHOTS")
	if dir == "" {
		return
	}
	take := chromedp.CaptureScreenshot()
	if whole {
		take = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(b.ctx, take)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// quiet fails the test if anything went wrong in the page, or was fetched.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.trouble) > 0 {
		b.t.Errorf("the page complains: %q", b.trouble)
	}
	if len(b.requests) > 0 {
		b.t.Errorf("the page fetches %q", b.requests)
	}
}

// clickOn clicks on an element as its user would.
func clickOn(id string) chromedp.Action[chromedp.Void] { return chromedp.Click(chromedp.CSS("#" + id)) }
