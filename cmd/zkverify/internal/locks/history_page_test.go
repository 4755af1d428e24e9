package locks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHistoryDrawsAPage(t *testing.T) {
	dir := night(t).write()
	page := filepath.Join(t.TempDir(), "night.html")
	history(t, "--html", page, dir).want(t, 0, []string{"8 transactions"}, []string{"the timeline is in " + page})
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<h1>Who held which lock</h1>", "<dt>from</dt><dd>2026-01-02 03:00:01.000 UTC</dd>", "<dt>to</dt><dd>2026-01-02 03:05:07.000 UTC</dd>",
		"<dt>locks</dt><dd>2</dd>", "<dt>sessions</dt><dd>5</dd>", "<dt>holds</dt><dd>5</dd>", "<dt>lost</dt><dd>2</dd>", `id="timeline"`, `id="events"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{`id="verdicts"`, `id="latency"`, `id="coverage"`, `id="again"`} {
		if strings.Contains(string(text), not) {
			t.Errorf("the page has %q", not)
		}
	}
	history(t, "--html", page, dir).want(t, exitUsage, nil, []string{page + " exists: name a file that does not"})
	if after, err := os.ReadFile(page); err != nil || string(after) != string(text) {
		t.Errorf("the page was written again: %v", err)
	}
}

func TestHistoryRefusesAPageOfNothing(t *testing.T) {
	dir := night(t).write()
	empty := newServer(t)
	empty.create(1, "/config")
	for _, c := range []struct {
		name, page, said string
		args             []string
	}{
		{"no lock", "a.html", "nothing to draw", []string{empty.write()}},
		{"no lock here", "b.html", "no node of a lock", []string{"--path", "/nothing", dir}},
		{"a missing folder", filepath.Join("missing", "c.html"), "no such file", []string{dir}},
		{"no page for one time", "d.html", "", []string{"--at", "2026-01-02 03:03", dir}},
	} {
		page := filepath.Join(t.TempDir(), c.page)
		history(t, append([]string{"--html", page}, c.args...)...).want(t, exitUsage, nil, []string{c.said})
		if _, err := os.Lstat(page); err == nil {
			t.Errorf("%s: a page was written", c.name)
		}
	}
}
