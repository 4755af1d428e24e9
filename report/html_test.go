package report_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// pageFile writes a history's page into a file, and returns where.
func pageFile(t *testing.T, header histories.Header, events func(func(*histories.Event, error) bool)) (path string, size int64) {
	t.Helper()
	r, err := checker.CheckEvents(context.Background(), header, events, checker.WithEngine(checker.Interval))
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "report.html")
	var b bytes.Buffer
	start := time.Now()
	if err := report.HTML(&b, "runs/some", header, events, r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events, %d bytes of HTML in %v", r.Events, b.Len(), time.Since(start))
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, int64(b.Len())
}

func TestFiftyClientsForTenMinutesAreASmallPage(t *testing.T) {
	s := synthetic{clients: 50, length: 10 * time.Minute, rest: 300 * time.Millisecond}
	path, size := pageFile(t, s.header(), s.events())
	if size > 10<<20 {
		t.Errorf("the page takes %d bytes", size)
	}
	b := openPage(t, path, 1400, 900, false)
	t.Log(eval[any](b, `JSON.stringify([performance.timing.responseEnd-performance.timing.navigationStart, performance.timing.domInteractive-performance.timing.navigationStart, ...performance.getEntriesByType("mark").map(m => [m.name, m.startTime]), ...performance.getEntriesByType("paint").map(m => [m.name, m.startTime])])`))
	t.Logf("open after %.0f ms, of which its script took %.0f ms", eval[float64](b, `performance.getEntriesByName("ready")[0].startTime`), eval[float64](b, `performance.getEntriesByName("ready")[0].startTime - performance.timing.responseEnd + performance.timeOrigin`))
	b.shot("fifty-light-1400", true)
	b.do(clickOn("unfold"))
	b.shot("fifty-unfolded", true)
	b.do(clickOn("next"))
	b.shot("fifty-jump", true)
	b.quiet()
}
