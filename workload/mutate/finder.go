package mutate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// finder finds the mutants of a file.
type finder struct {
	fset   *token.FileSet
	info   *types.Info
	pkg    string
	name   string // of the file
	source string
	file   *ast.File
	base   int // the token.Pos of the file's first byte

	decl    int
	fn      string
	results *types.Tuple            // of the innermost function
	last    ast.Stmt                // the return that ends it, which it has to have
	guarded map[*ast.BlockStmt]bool // the branches of if statements
	found   []Mutant
	splices []splice
}

// find returns the candidates of a file, which may or may not compile.
func (f *finder) find() ([]Mutant, []splice) {
	f.base, f.guarded = int(f.file.FileStart), map[*ast.BlockStmt]bool{}
	for i, d := range f.file.Decls {
		f.decl, f.fn = i, "var"
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			f.fn = funcName(d)
			f.body(d.Body, f.info.Defs[d.Name].Type())
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				f.walk(d)
			}
		}
	}
	f.order()
	return f.found, f.splices
}

// order sorts the candidates in the order of the source.
func (f *finder) order() {
	places := make([]int, len(f.found))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(f.found[a].offset, f.found[b].offset) })
	found, now := make([]Mutant, len(f.found)), make([]int, len(f.found))
	for i, was := range places {
		found[i], now[was] = f.found[was], i
	}
	for i := range f.splices {
		f.splices[i].mutant = now[f.splices[i].mutant]
	}
	f.found = found
}

// body walks through the body of a function.
func (f *finder) body(b *ast.BlockStmt, t types.Type) {
	results, last := f.results, f.last
	f.results, f.last = t.(*types.Signature).Results(), nil
	if n := len(b.List); n > 0 {
		if r, ok := b.List[n-1].(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			f.last = r
		}
	}
	f.walk(b)
	f.results, f.last = results, last
}

// funcName returns the name of a function: (*T).name, T.name or name.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t, star := d.Recv.List[0].Type, false
	if s, ok := t.(*ast.StarExpr); ok {
		t, star = s.X, true
	}
	switch g := t.(type) {
	case *ast.IndexExpr:
		t = g.X
	case *ast.IndexListExpr:
		t = g.X
	}
	if star {
		return fmt.Sprintf("(*%s).%s", t.(*ast.Ident).Name, d.Name.Name)
	}
	return t.(*ast.Ident).Name + "." + d.Name.Name
}

// walk finds the mutants in a node, outer nodes first.
func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return true
		case *ast.FuncLit:
			f.body(n.Body, f.info.Types[n].Type)
			return false
		case *ast.ArrayType: // its length has to be a constant
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.CallExpr:
			return f.call(n)
		case *ast.CompositeLit:
			return f.composite(n)
		case *ast.AssignStmt:
			statements{f}.assign(n)
			return false
		case *ast.IncDecStmt:
			statements{f}.target(n.X)
			return false
		case *ast.RangeStmt:
			branches{f}.statement(n)
			f.walk(n.X)
			f.walk(n.Body)
			return false
		case *ast.ExprStmt:
			f.effect(n.X)
			return false
		case *ast.GoStmt:
			f.effect(n.Call)
			return false
		case *ast.DeferStmt:
			f.effect(n.Call)
			return false
		case ast.Expr:
			return expressions{f}.expression(n)
		case ast.Stmt:
			branches{f}.statement(n)
		}
		return true
	})
}

// effect walks through an expression whose value is not used.
func (f *finder) effect(e ast.Expr) {
	switch e := e.(type) {
	case *ast.CallExpr:
		f.walk(e.Fun)
		for _, a := range e.Args {
			f.walk(a)
		}
	case *ast.UnaryExpr:
		f.walk(e.X)
	}
}

// call walks through a call, without the arguments that make no visible difference.
func (f *finder) call(c *ast.CallExpr) bool {
	if id, ok := c.Fun.(*ast.Ident); ok && f.info.Uses[id] == types.Universe.Lookup("make") {
		switch f.info.Types[c].Type.Underlying().(type) {
		case *types.Map: // its length is only a hint
			return false
		case *types.Slice: // its capacity, too
			f.walk(c.Args[1])
			return false
		}
	}
	return expressions{f}.expression(c)
}

// composite walks through a literal of a struct, an array or a map.
func (f *finder) composite(c *ast.CompositeLit) bool {
	s, isStruct := f.info.Types[c].Type.Underlying().(*types.Struct)
	for _, e := range c.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			f.walk(e)
			continue
		}
		if isStruct {
			f.field(s, kv)
		}
		f.walk(kv.Value) // the keys of arrays have to be constants
	}
	return false
}

// field adds the mutant that leaves a field of a struct at zero.
func (f *finder) field(s *types.Struct, kv *ast.KeyValueExpr) {
	v := f.info.Types[kv.Value]
	if v.Value != nil {
		return
	}
	for field := range s.Fields() {
		if field.Name() == kv.Key.(*ast.Ident).Name && types.Identical(field.Type(), v.Type) {
			m := f.add(kv, Field, f.text(kv), "")
			f.wrap(m, kv.Value, "mutantZero(§, ", ")")
		}
	}
}

// add appends a candidate and returns its index.
func (f *finder) add(at ast.Node, op Operator, before, after string) int {
	f.found = append(f.found, Mutant{
		Package: f.pkg, File: f.name, Line: f.fset.Position(at.Pos()).Line, Func: f.fn, Operator: op,
		Before: oneLine(before), After: oneLine(after), decl: f.decl, offset: f.at(at.Pos()),
	})
	return len(f.found) - 1
}

// wrap puts a node between two texts. A § in them stands for the mutant's number.
func (f *finder) wrap(mutant int, n ast.Node, before, after string) {
	f.splice(mutant, f.at(n.Pos()), f.at(n.End()), false, func(number int, inside string) string {
		return numbered(before, number) + inside + numbered(after, number)
	})
}

// splice appends a splice of the file's text.
func (f *finder) splice(mutant, from, to int, inner bool, text func(int, string) string) {
	f.splices = append(f.splices, splice{mutant, from, to, inner, text})
}

// numbered returns a text with the mutant's number in place of §, which no Go code contains.
func numbered(text string, number int) string {
	return strings.ReplaceAll(text, "§", fmt.Sprint(number))
}

// at returns the offset of a position.
func (f *finder) at(p token.Pos) int { return int(p) - f.base }

// text returns the source of a node.
func (f *finder) text(n ast.Node) string { return f.source[f.at(n.Pos()):f.at(n.End())] }
