package main

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Lines are wrapped, so that they can be read and compared in a terminal. Rows of
// tables, commands and code cannot be wrapped.
func TestLinesOfTheDocsAreShort(t *testing.T) {
	const most = 100
	for _, page := range append(pages(t), "histories/corpus/README.md") {
		fenced := false
		number := 0
		for line := range strings.Lines(readDoc(t, page)) {
			number++
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "<!--") {
				continue
			}
			if n := utf8.RuneCountInString(line); n > most && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s:%d has %d columns, more than %d", page, number, n, most)
			}
		}
	}
}

var (
	inBackticks = regexp.MustCompile("`([A-Za-z0-9_.][A-Za-z0-9_./*<>-]*)`")
	placeholder = regexp.MustCompile(`<[^>]*>`)
)

// filesByName returns the paths of all files and folders of the module, by their base names.
func filesByName(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() == ".git" {
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		found[entry.Name()] = append(found[entry.Name()], path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Each file or folder that a page names exists. Pages name it by its path or, where the
// package is clear, by its base name.
func TestFilesThatTheDocsNameAreThere(t *testing.T) {
	there := filesByName(t)
	n := 0
	for _, page := range pages(t) {
		for _, m := range inBackticks.FindAllStringSubmatch(readDoc(t, page), -1) {
			first, _, isPath := strings.Cut(m[1], "/")
			switch {
			case isPath && slices.Contains([]string{"bin", "runs", "data"}, first): // made by builds and runs
			case isPath && slices.Contains(there[first], filepath.Join(root, first)):
				n++
				if got, err := filepath.Glob(filepath.Join(root, placeholder.ReplaceAllString(m[1], "*"))); err != nil || len(got) == 0 {
					t.Errorf("%s names %s, which is not there", page, m[1])
				}
			case !isPath && strings.HasSuffix(m[1], ".go") && !strings.Contains(m[1], "*"):
				n++
				if there[m[1]] == nil {
					t.Errorf("%s names %s, which is not there", page, m[1])
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d names of files", n)
	}
}

// Below its title each page says for whom it is.
func TestEachPageSaysForWhomItIs(t *testing.T) {
	readers := []string{"use the locks", "test a lock", "run it every night", "how it works", "project"}
	first := regexp.MustCompile(`^# .+\n\n\*For: (.+)\.\*\n\n[^\n]`)
	for _, page := range pages(t) {
		if !strings.HasPrefix(page, "docs/") {
			continue
		}
		text := readDoc(t, page)
		if m := first.FindStringSubmatch(text); m == nil || !slices.Contains(readers, m[1]) {
			t.Errorf("%s does not begin with its title and a line *For: WHOM.*, of one of %q", page, readers)
		}
		if n := strings.Count(text, "*For: "); n != 1 {
			t.Errorf("%s has %d lines *For: WHOM.*", page, n)
		}
	}
}

var packageName = regexp.MustCompile("`([^`]+)`")

// sections returns the packages of each section of docs/architecture.md, in order.
// A name that ends in … stands for all packages with that prefix.
func sections(t *testing.T) (names []string, packages [][]string) {
	t.Helper()
	_, text, _ := strings.Cut(readDoc(t, "docs/architecture.md"), "\n## The packages\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			names, packages = append(names, strings.TrimSpace(name)), append(packages, nil)
		}
		listed, _, entry := strings.Cut(line, ": ")
		if len(packages) == 0 || !entry || !strings.HasPrefix(line, "- `") {
			continue
		}
		last := len(packages) - 1
		for _, m := range packageName.FindAllStringSubmatch(listed, -1) {
			packages[last] = append(packages[last], m[1])
		}
	}
	return names, packages
}

// The page lists every package, and no other. A package imports only packages of its own
// section, of the sections above it, and of Shared.
func TestTheArchitectureIsThatOfThePackages(t *testing.T) {
	names, named := sections(t)
	shared := slices.Index(names, "Shared")
	if len(names) < 5 || shared < 0 {
		t.Fatalf("docs/architecture.md has the sections %q", names)
	}
	stands := func(name string) (section int, pattern string) {
		for i, packages := range named {
			for _, n := range packages {
				family, all := strings.CutSuffix(n, "…")
				if n == name || all && strings.HasPrefix(name, family) {
					return i, n
				}
			}
		}
		return -1, ""
	}
	seen := make(map[string]bool)
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		section, pattern := stands(name)
		if section < 0 {
			t.Errorf("docs/architecture.md does not name package %s", name)
			continue
		}
		seen[pattern] = true
		for _, i := range p.Imports {
			if i, ours := strings.CutPrefix(i, module+"/"); ours {
				if of, _ := stands(i); of > section && of != shared {
					t.Errorf("%s of section %q imports %s of section %q, which is below it", name, names[section], i, names[of])
				}
			}
		}
	}
	for _, packages := range named {
		for _, n := range packages {
			if !seen[n] {
				t.Errorf("docs/architecture.md names %s, which is no package", n)
			}
		}
	}
}
