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
// candidates are tried together; in the declarations that do not compile then, each candidate
// is tried without the others of its declaration.
func (k *pkg) compile() error {
	k.numbers = make([]int, len(k.found))
	for i := range k.numbers {
		k.numbers[i] = i + 1
	}
	bad, err := k.check(func(i int) int { return k.numbers[i] })
	if err != nil || len(bad) == 0 {
		return err
	}
	suspects := map[place][]int{}
	rounds := 0
	for i, m := range k.found {
		at := place{m.File, m.decl}
		if bad[at] != nil {
			suspects[at] = append(suspects[at], i)
			rounds = max(rounds, len(suspects[at]))
		}
	}
	for round := range rounds {
		tried := map[int]bool{}
		for _, all := range suspects {
			if round < len(all) {
				tried[all[round]] = true
			}
		}
		failed, err := k.check(func(i int) int {
			if tried[i] {
				return i + 1
			}
			return 0
		})
		if err != nil {
			return err
		}
		for i := range tried {
			if failed[place{k.found[i].File, k.found[i].decl}] != nil {
				k.numbers[i] = 0
			}
		}
	}
	bad, err = k.check(func(i int) int { return k.numbers[i] })
	for at, err := range bad {
		return fmt.Errorf("the mutants of %s, declaration %d, do not compile together: %w", at.file, at.decl, err)
	}
	return err
}

// place is a declaration of a file.
type place struct {
	file string // below the module's folder
	decl int    // its number in the file
}

// check returns the declarations that do not compile with some candidates, each with one of its
// errors. Its own error reports a defect of the copies.
func (k *pkg) check(number func(int) int) (map[place]error, error) {
	texts, err := k.texts(number)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for i, text := range texts {
		f, err := parser.ParseFile(fset, k.fileName(i), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("the copy of %s is no Go: %w", k.fileName(i), err)
		}
		files = append(files, f)
	}
	bad := map[place]error{}
	var lost error
	conf := types.Config{Importer: k.importer, Sizes: k.sizes, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			lost = err
			return
		}
		at, ok := k.placeOf(files, e.Pos)
		if !ok {
			lost = fmt.Errorf("%s: %w", fset.Position(e.Pos), err)
			return
		}
		bad[at] = err
	}}
	conf.Check(k.path, fset, files, nil) // its error is the first of those
	return bad, lost
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
