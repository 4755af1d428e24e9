package mutate

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// switchFile is the name of the file that reads the number of the mutant that is on.
const switchFile = "zz_mutant.go"

//go:embed switch.txt
var switchText string

// switchSource returns the switchFile of a package.
func switchSource(name string) string {
	return strings.Replace(switchText, "PACKAGE", name, 1)
}

// texts returns the copies of the package's files with the candidates to which number gives a
// number, and the switchFile as the last text.
func (k *pkg) texts(number func(candidate int) int) ([]string, error) {
	var all []string
	for _, f := range k.files {
		all = append(all, render(f.source, f.splices, number))
	}
	head, err := parser.ParseFile(token.NewFileSet(), "", k.files[0].source, parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	return append(all, switchSource(head.Name.Name)), nil
}

// compile sets the number of each candidate that compiles to a value other than 0. All
// candidates are tried together; then those of the declarations that do not compile.
func (k *pkg) compile() error {
	k.numbers = make([]int, len(k.found))
	for i := range k.numbers {
		k.numbers[i] = i + 1
	}
	all := &copies{pkg: k, fset: token.NewFileSet()}
	bad, err := all.check(func(i int) int { return k.numbers[i] })
	if err != nil || len(bad) == 0 {
		return err
	}
	if err := k.reject(bad); err != nil {
		return err
	}
	bad, err = all.check(func(i int) int { return k.numbers[i] })
	for at, err := range bad {
		return fmt.Errorf("the mutants of %s, declaration %d, do not compile together: %w", at.file, at.decl, err)
	}
	return err
}

// reject sets the number of each candidate that does not compile to 0. It tries a group of the
// candidates of each bad declaration, and the halves of each group that does not compile. Most
// candidates compile, and so do most groups. The bodies of other functions are left out: most of
// the time would go there.
func (k *pkg) reject(bad map[place]error) error {
	groups := map[place][][]int{} // the last of a declaration is tried next
	for i, m := range k.found {
		if at := (place{m.File, m.decl}); bad[at] != nil {
			if groups[at] == nil {
				groups[at] = [][]int{nil}
			}
			groups[at][0] = append(groups[at][0], i)
		}
	}
	for suspected := (&copies{pkg: k, fset: token.NewFileSet(), bodies: bad}); len(groups) > 0; {
		tried := map[int]bool{}
		for _, all := range groups {
			for _, i := range all[len(all)-1] {
				tried[i] = true
			}
		}
		failed, err := suspected.check(func(i int) int {
			if tried[i] {
				return i + 1
			}
			return 0
		})
		if err != nil {
			return err
		}
		for at, all := range groups {
			group, rest := all[len(all)-1], all[:len(all)-1]
			if n := len(group); failed[at] != nil && n > 1 {
				rest = append(rest, group[:n/2], group[n/2:])
			} else if failed[at] != nil {
				k.numbers[group[0]] = 0
			}
			if groups[at] = rest; len(rest) == 0 {
				delete(groups, at)
			}
		}
	}
	return nil
}

// place is a declaration of a file.
type place struct {
	file string // below the module's folder
	decl int    // its number in the file
}

// copies are the copies of a package's files, with the candidates that are tried.
type copies struct {
	pkg    *pkg
	fset   *token.FileSet
	bodies map[place]error // the functions whose bodies are compiled; nil for all
	parsed []parsedCopy    // the last copy of each file
}

// parsedCopy is the text of a copy, and its syntax.
type parsedCopy struct {
	text string
	file *ast.File
}

// check returns the declarations that do not compile with some candidates, each with one of its
// errors. Its own error reports a defect of the copies.
func (c *copies) check(number func(int) int) (map[place]error, error) {
	files, err := c.parse(number)
	if err != nil {
		return nil, err
	}
	k := c.pkg
	bad := map[place]error{}
	var lost error
	conf := types.Config{Importer: k.importer, Sizes: k.sizes, DisableUnusedImportCheck: c.bodies != nil, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			lost = err
			return
		}
		at, ok := k.placeOf(files, e.Pos)
		if !ok {
			lost = fmt.Errorf("%s: %w", c.fset.Position(e.Pos), err)
			return
		}
		bad[at] = err
	}}
	conf.Check(k.path, c.fset, files, nil) // its error is the first of those
	return bad, lost
}

// parse returns the syntax of the copies. A copy that is as it was is not parsed again.
func (c *copies) parse(number func(int) int) ([]*ast.File, error) {
	texts, err := c.pkg.texts(number)
	if err != nil {
		return nil, err
	}
	c.parsed = append(c.parsed, make([]parsedCopy, len(texts)-len(c.parsed))...)
	var files []*ast.File
	for i, text := range texts {
		if c.parsed[i].file == nil || c.parsed[i].text != text {
			name := c.pkg.fileName(i)
			f, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("the copy of %s is no Go: %w", name, err)
			}
			c.leaveOut(name, f)
			c.parsed[i] = parsedCopy{text, f}
		}
		files = append(files, c.parsed[i].file)
	}
	return files, nil
}

// leaveOut removes the bodies of functions that are not compiled. A generic function must have
// one.
func (c *copies) leaveOut(name string, f *ast.File) {
	for i, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && c.bodies != nil && c.bodies[place{name, i}] == nil && fn.Type.TypeParams == nil && fn.Name.Name != "init" {
			fn.Body = nil
		}
	}
}

// fileName returns the name of the i-th text of the package.
func (k *pkg) fileName(i int) string {
	if i == len(k.files) {
		return k.name + "/" + switchFile
	}
	return k.files[i].name
}

// placeOf finds the declaration that a position is in.
func (k *pkg) placeOf(files []*ast.File, pos token.Pos) (place, bool) {
	for i, f := range files[:len(k.files)] {
		for j, d := range f.Decls {
			if d.Pos() <= pos && pos <= d.End() {
				return place{k.fileName(i), j}, true
			}
		}
	}
	return place{}, false
}
