package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// statements finds the mutants of statements.
type statements struct{ *finder }

// list finds the mutants of consecutive statements. The only statement of a guarded list is the
// branch of an if or a case, and is left out there.
func (f statements) list(all []ast.Stmt, guarded bool) {
	for i, s := range all {
		if droppable(s) && !(guarded && len(all) == 1) && s != f.last {
			f.wrap(f.add(s, Drop, f.text(s), ""), s, "if !mutantOn(§) { ", " }")
		}
		f.inverse(s)
		if i+1 < len(all) {
			f.swap(s, all[i+1])
		}
	}
}

// droppable reports whether a statement can be left out. A declaration cannot.
func droppable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

// swap exchanges two neighbors. The one on a single line moves, so that no other line does. Two
// assignments that call nothing are left alone: nothing would change.
func (f statements) swap(a, b ast.Stmt) {
	if !movable(a) || !movable(b) || !acts(a) && !acts(b) {
		return
	}
	before, after := f.text(a), f.text(b)
	changed := after + "; " + before
	switch {
	case !strings.Contains(before, "\n") && !declares(a):
		m := f.add(a, Swap, before+"; "+after, changed)
		f.wrap(m, a, "if !mutantOn(§) { ", " }")
		f.wrap(m, b, "", "; if mutantOn(§) { "+before+" }")
	case !strings.Contains(after, "\n") && !declares(b):
		m := f.add(a, Swap, before+"; "+after, changed)
		f.wrap(m, a, "if mutantOn(§) { "+after+" }; ", "")
		f.wrap(m, b, "if !mutantOn(§) { ", " }")
	}
}

// movable reports whether a statement may change places.
func movable(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt:
		return true
	}
	return false
}

func declares(s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	return ok && a.Tok == token.DEFINE
}

// acts reports whether a statement does more than assign: whether it calls, sends or
// receives.
func acts(s ast.Stmt) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr, *ast.SendStmt:
			yes = true
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.ARROW
		}
		return !yes
	})
	return yes
}

// assign finds the mutants of an assignment, except the one that leaves it out.
func (f statements) assign(a *ast.AssignStmt) {
	for _, l := range a.Lhs {
		f.target(l)
	}
	for _, r := range a.Rhs {
		f.walk(r)
	}
}

var inverseAssigns = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
}

// inverse adds the mutant of a statement that counts in the other direction.
func (f statements) inverse(s ast.Stmt) {
	var other string
	switch s := s.(type) {
	case *ast.IncDecStmt:
		other = f.text(s.X) + map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok]
	case *ast.AssignStmt:
		by, ok := inverseAssigns[s.Tok]
		if !ok || !isNumber(f.info.Types[s.Lhs[0]].Type) {
			return
		}
		other = f.text(s.Lhs[0]) + " " + by.String() + " " + f.text(s.Rhs[0])
	default:
		return
	}
	if strings.Contains(other, "\n") {
		return
	}
	f.wrap(f.add(s, Arithmetic, f.text(s), other), s, "if mutantOn(§) { "+other+" } else { ", " }")
}

// target walks through the left side of an assignment.
func (f statements) target(e ast.Expr) {
	switch e := e.(type) {
	case *ast.IndexExpr:
		f.target(e.X)
		f.walk(e.Index)
	case *ast.SelectorExpr:
		f.target(e.X)
	case *ast.CallExpr:
		f.walk(e)
	}
}

// returned adds the mutants that return nil for an error.
func (f statements) returned(r *ast.ReturnStmt) {
	if f.results == nil || f.results.Len() != len(r.Results) {
		return
	}
	for i, e := range r.Results {
		if isError(f.results.At(i).Type()) && !f.info.Types[e].IsNil() {
			f.wrap(f.add(r, Swallow, f.text(r), "nil for "+f.text(e)), e, "mutantPick[error](§, nil, ", ")")
		}
	}
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }
