package checker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// The histories with known answers that the tests of this package compose are kept as files,
// too: a corpus for authors of checkers, and of readers of the format. Each has the expected
// verdict in the options of its header.
const corpus = "../histories/corpus"

var update = flag.Bool("update", false, "write the histories with known answers to histories/corpus")

// taken holds the test of each file.
var taken = map[string]string{}

// inCorpus checks that a history with a known answer is in the corpus, or adds it. more are
// further options of its header.
func inCorpus(t *testing.T, h *histories.History, guarantee string, c known, more ...option) {
	t.Helper()
	kept := *h
	kept.Header.Target, kept.Header.Recipe = "by hand", recipesOf(h)
	kept.Header.Options = map[string]string{"guarantee": guarantee, "case": c.name, "expect": string(c.want)}
	for _, o := range more {
		kept.Header.Options[o.name] = o.value
	}
	var text bytes.Buffer
	if err := histories.Encode(&text, &kept); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(corpus, slug(guarantee), short(string(c.want), c.name))
	if other := taken[file]; other != "" && other != t.Name() {
		t.Fatalf("%s has a case of the same name, or one whose file has", other)
	}
	taken[file] = t.Name()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, text.Bytes()) {
		t.Errorf("the corpus does not have it (%v): go test ./checker -update puts it there", err)
	}
}

type option struct{ name, value string }

func recipesOf(h *histories.History) string {
	if h.Header.Recipe != "" {
		return h.Header.Recipe
	}
	var names []string
	for _, r := range facts.Of(h).Recipes() {
		names = append(names, string(r))
	}
	return strings.Join(names, ",")
}

func slug(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// short returns the file's name of a case. Its sentence is in the header.
func short(outcome, sentence string) string {
	sum := sha256.Sum256([]byte(sentence))
	return fmt.Sprintf("%s-%x.jsonl", slug(outcome), sum[:3])
}

// readCorpus returns the histories of the corpus by file.
func readCorpus(t *testing.T) map[string]*histories.History {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus, "*", "*.jsonl"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	all := map[string]*histories.History{}
	for _, file := range files {
		h, err := histories.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		all[file] = h
	}
	return all
}

func TestEveryHistoryOfTheCorpusIsJudgedAsItSays(t *testing.T) {
	seen := map[string]map[verdict.Outcome]bool{}
	for file, h := range readCorpus(t) {
		guarantee, want := h.Header.Options["guarantee"], verdict.Outcome(h.Header.Options["expect"])
		r, err := Check(context.Background(), h, WithReleaseNotHeld(ReleaseNotHeld(h.Header.Options["release-not-held"])))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		v := r.Verdict(guarantee)
		if v == nil || v.Outcome != want {
			t.Errorf("%s: got %v, want %s: %s", file, v, guarantee, want)
			continue
		}
		if seen[guarantee] == nil {
			seen[guarantee] = map[verdict.Outcome]bool{}
		}
		seen[guarantee][want] = true
	}
	for _, g := range guarantees {
		if g.ofServers {
			continue // histories alone do not decide it: see service_test.go
		}
		if !seen[g.Name][verdict.Holds] || !seen[g.Name][verdict.Violated] {
			t.Errorf("the corpus has not both a good and a bad history for %s: %v", g.Name, seen[g.Name])
		}
	}
}
