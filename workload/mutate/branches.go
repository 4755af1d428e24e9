package mutate

import (
	"go/ast"
	"go/token"
)

// branches finds the mutants of branches and loops.
type branches struct{ *finder }

// statement finds the mutants of a statement, without those of its expressions.
func (f branches) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		statements(f).list(s.List, f.guarded[s])
	case *ast.IfStmt:
		f.guarded[s.Body] = true
		f.branch(s)
	case *ast.ForStmt:
		f.loop(s, s.Body)
	case *ast.RangeStmt:
		f.loop(s, s.Body)
	case *ast.SwitchStmt:
		for _, c := range s.Body.List {
			f.caseClause(c.(*ast.CaseClause), s.Tag == nil)
		}
	case *ast.TypeSwitchStmt:
		for _, c := range s.Body.List {
			f.caseClause(c.(*ast.CaseClause), false)
		}
	case *ast.CommClause:
		f.commClause(s)
	case *ast.ReturnStmt:
		statements(f).returned(s)
	}
}

// branch adds the mutants of an if statement whose branches are never taken.
func (f branches) branch(s *ast.IfStmt) {
	cond := f.text(s.Cond)
	op := Branch
	if b, ok := s.Cond.(*ast.BinaryExpr); ok && b.Op == token.NEQ && isError(f.info.Types[b.X].Type) && f.info.Types[b.Y].IsNil() {
		op = Unchecked
	}
	f.wrap(f.add(s, op, "if "+cond, "if false"), s.Cond, "((", ") && !mutantOn(§))")
	if s.Else != nil {
		f.wrap(f.add(s, Branch, "if "+cond, "if true"), s.Cond, "((", ") || mutantOn(§))")
		if b, ok := s.Else.(*ast.BlockStmt); ok {
			f.guarded[b] = true
		}
	}
}

// loop adds the mutants of a loop that ends as it begins, or has break and continue exchanged.
func (f branches) loop(s ast.Stmt, body *ast.BlockStmt) {
	head := f.source[f.at(s.Pos()):f.at(body.Lbrace)]
	at := f.at(body.Lbrace) + 1
	f.splice(f.add(s, Loop, head, "break at once"), at, at, false, func(number int, _ string) string {
		return numbered(" if mutantOn(§) { break };", number)
	})
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return false // break or continue refers to another statement in there
		case *ast.BranchStmt:
			other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]
			if other != "" && n.Label == nil {
				f.wrap(f.add(n, Jump, n.Tok.String(), other), n, "if mutantOn(§) { "+other+" }; ", "")
			}
		}
		return true
	})
}

// caseClause adds the mutant of a case of a switch that is never taken, or, if the case is no
// condition, that does nothing.
func (f branches) caseClause(c *ast.CaseClause, conditions bool) {
	statements(f).list(c.Body, true)
	if !conditions || c.List == nil {
		f.emptied(c, c.Body)
		return
	}
	m := f.add(c, Case, f.head(c, c.Colon), "never")
	for _, e := range c.List {
		f.wrap(m, e, "((", ") && !mutantOn(§))")
	}
}

// commClause adds the mutants of a case of a select that is never taken, and of a default that
// does nothing.
func (f branches) commClause(c *ast.CommClause) {
	statements(f).list(c.Body, c.Comm == nil)
	var channel ast.Expr
	switch s := c.Comm.(type) {
	case nil:
		f.emptied(c, c.Body)
		return
	case *ast.SendStmt:
		channel = s.Chan
	case *ast.ExprStmt:
		channel = s.X.(*ast.UnaryExpr).X
	case *ast.AssignStmt:
		channel = s.Rhs[0].(*ast.UnaryExpr).X
	}
	f.wrap(f.add(c, Case, f.head(c, c.Colon), "never"), channel, "mutantZero(§, ", ")")
}

// emptied adds the mutant of a clause that does nothing.
func (f branches) emptied(c ast.Node, body []ast.Stmt) {
	if len(body) == 0 {
		return
	}
	last := body[len(body)-1]
	m := f.add(c, Case, f.text(c), "does nothing")
	f.splice(m, f.at(body[0].Pos()), f.at(last.End()), false, func(number int, inside string) string {
		return numbered("if !mutantOn(§) { ", number) + inside + " }"
	})
}

// head returns the source of a clause up to its colon.
func (f branches) head(c ast.Node, colon token.Pos) string {
	return f.source[f.at(c.Pos()):f.at(colon)]
}
