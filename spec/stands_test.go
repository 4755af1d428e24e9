package spec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// functionsOf lists the functions of a package as package.function and
// package.type.method.
func functionsOf(t *testing.T, name, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", dir, err)
	}
	all := make(map[string]bool)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				all[name+"."+receiver(f)+f.Name.Name] = true
			}
		}
	}
	return all
}

// receiver returns the name of a method's type, with a point.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	for of := f.Recv.List[0].Type; ; {
		switch e := of.(type) {
		case *ast.StarExpr:
			of = e.X
		case *ast.IndexExpr:
			of = e.X
		case *ast.Ident:
			return e.Name + "."
		default:
			return ""
		}
	}
}

// A model that names a function which is gone may no longer be about the code.
func TestTheFunctionsThatTheModelsNameAreThere(t *testing.T) {
	there := make(map[string]bool)
	for name, dir := range map[string]string{
		"recipes": "../recipes",
		"session": "../recipes/internal/session",
		"queue":   "../recipes/internal/queue",
		"barrier": "../recipes/internal/barrier",
	} {
		for f := range functionsOf(t, name, dir) {
			there[f] = true
		}
	}
	all, err := models()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if len(m.stands) == 0 && m.name != "curator" { // a model of another library
			t.Errorf("%s.pml names no function of recipes", m.name)
		}
		for _, f := range m.stands {
			if !there[f] {
				t.Errorf("%s.pml names %s, which is not there", m.name, f)
			}
		}
	}
}
