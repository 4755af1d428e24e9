package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns the paths of the Markdown files that readers see, relative to the root.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, filepath.ToSlash(rel))
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %d pages", len(found))
	}
	return found
}

// Every term of the glossary occurs on the other pages. A term that no page uses must be
// deleted, or is a second name for a concept that has one.
func TestEveryTermOfTheGlossaryIsUsed(t *testing.T) {
	var text strings.Builder
	for _, page := range pages(t) {
		if page != "docs/glossary.md" {
			text.WriteString(strings.Join(strings.Fields(strings.ToLower(readDoc(t, page))), " ") + "\n")
		}
	}
	used := text.String()
	terms := regexp.MustCompile(`\*\*([^*]+)\*\*`)
	n := 0
	for line := range strings.Lines(readDoc(t, "docs/glossary.md")) {
		head, _, isTerm := strings.Cut(line, ":")
		if !isTerm || !strings.HasPrefix(line, "- **") {
			continue
		}
		for _, m := range terms.FindAllStringSubmatch(head, -1) {
			n++
			if !strings.Contains(used, strings.ToLower(m[1])) {
				t.Errorf("no other page uses %q of the glossary", m[1])
			}
		}
	}
	if n < 30 {
		t.Errorf("the glossary has only %d terms", n)
	}
}

var (
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInSlug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// slug returns the anchor that GitHub gives a heading.
func slug(heading string) string {
	return strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// A link from one page to another leads to an existing file and heading.
func TestLinksInTheDocsLeadSomewhere(t *testing.T) {
	headings := make(map[string][]string)
	of := func(page string) []string {
		if _, known := headings[page]; !known {
			headings[page] = []string{}
			for _, m := range pageHeading.FindAllStringSubmatch(readDoc(t, page), -1) {
				headings[page] = append(headings[page], slug(m[1]))
			}
		}
		return headings[page]
	}
	n := 0
	for _, page := range pages(t) {
		for _, m := range pageLink.FindAllStringSubmatch(readDoc(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			n++
			file, heading, to := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), file))
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if to && !slices.Contains(of(target), heading) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d links", n)
	}
}
