package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// module is the path of the module whose packages are mutated.
const module = "github.com/zkverify/zkverify"

// The requirements of Load.
var (
	ErrNoGo     = errors.New("the go command is not on the PATH: mutants are compiled from source")
	ErrNoSource = errors.New("no source of " + module + " here: mutants are compiled from it")
)

// Program is the source with its mutants.
type Program struct {
	Dir      string   // of the module
	Mutants  []Mutant // that compile
	Rejected []Mutant // that do not

	packages []*pkg
}

// pkg is one package that is mutated.
type pkg struct {
	name, path string
	fset       *token.FileSet
	importer   types.Importer
	sizes      types.Sizes
	files      []*file
	found      []Mutant // candidates of all files
	numbers    []int    // of the candidates in the program, 0 for the rejected
}

// file is one file of it.
type file struct {
	path    string // in the file system
	name    string // below the module's folder
	source  string
	splices []splice // by the candidates of the package
}

// Load finds the mutants of package recipes and its internal packages in the module whose
// folder is dir or one above it. The error is ErrNoGo, ErrNoSource, or the error that keeps the
// source from being compiled.
func Load(ctx context.Context, dir string) (*Program, error) {
	root, err := moduleFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	return load(ctx, root, "./recipes", "./recipes/internal/barrier", "./recipes/internal/queue", "./recipes/internal/session")
}

// moduleFolder returns the folder of the module that dir is in.
func moduleFolder(ctx context.Context, dir string) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", ErrNoGo
	}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	list.Dir = dir
	out, err := list.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	root, ok := strings.CutPrefix(strings.TrimSpace(string(out)), module+" ")
	if err != nil || !ok {
		return "", fmt.Errorf("%w (%s)", ErrNoSource, dir)
	}
	return root, nil
}

// load finds the mutants of packages of a module.
func load(ctx context.Context, root string, patterns ...string) (*Program, error) {
	conf := &packages.Config{Context: ctx, Dir: root, Mode: packages.LoadSyntax, Fset: token.NewFileSet()}
	loaded, err := packages.Load(conf, patterns...)
	if err != nil {
		return nil, err
	}
	conf = &packages.Config{Context: ctx, Dir: root, Mode: packages.LoadTypes | packages.NeedExportFile}
	added, err := packages.Load(conf, "cmp", "fmt", "os", "strconv", "sync")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(loaded, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	p := &Program{Dir: root}
	for _, l := range loaded {
		for _, e := range l.Errors {
			return nil, e
		}
		k, err := newPkg(root, l, added)
		if err != nil {
			return nil, err
		}
		p.packages = append(p.packages, k)
	}
	return p, p.number()
}

// newPkg finds the candidates of a package.
func newPkg(root string, l *packages.Package, added []*packages.Package) (*pkg, error) {
	inside, err := filepath.Rel(root, filepath.Dir(l.CompiledGoFiles[0]))
	if err != nil {
		return nil, err
	}
	k := &pkg{name: filepath.ToSlash(inside), path: l.PkgPath, fset: l.Fset, sizes: l.TypesSizes, importer: importsOf(l, added)}
	for i, syntax := range l.Syntax {
		path := l.CompiledGoFiles[i]
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := &file{path: path, name: k.name + "/" + filepath.Base(path), source: string(source)}
		k.find(l, f, syntax)
		k.files = append(k.files, f)
	}
	return k, nil
}

// find finds the candidates of a file.
func (k *pkg) find(l *packages.Package, f *file, syntax *ast.File) {
	found, splices := (&finder{fset: l.Fset, info: l.TypesInfo, pkg: k.name, name: f.name, source: f.source, file: syntax}).find()
	first := len(k.found)
	for i := range splices {
		splices[i].mutant += first
	}
	f.splices = splices
	k.found = append(k.found, found...)
}

// imports is an importer of the packages that a package and the copies of its files import.
type imports map[string]*types.Package

func importsOf(l *packages.Package, added []*packages.Package) imports {
	all := imports{}
	for _, p := range added {
		all[p.PkgPath] = p.Types
	}
	for path, p := range l.Imports {
		all[path] = p.Types
	}
	return all
}

func (i imports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not imported", path)
}

// number determines which candidates compile, and numbers them in the order of the source.
func (p *Program) number() error {
	for _, k := range p.packages {
		if err := k.compile(); err != nil {
			return err
		}
		occurrences := map[string]int{}
		for i, m := range k.found {
			m.Occurrence = 1
			if k.numbers[i] == 0 {
				p.Rejected = append(p.Rejected, m)
				continue
			}
			occurrences[m.Key()]++
			m.Occurrence = occurrences[m.Key()]
			m.Number = len(p.Mutants) + 1
			k.numbers[i] = m.Number
			p.Mutants = append(p.Mutants, m)
		}
	}
	return nil
}
