package mutate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// expressions finds the mutants of expressions.
type expressions struct{ *finder }

// expression finds the mutants of an expression. It reports whether to look into the
// expression.
func (f expressions) expression(e ast.Expr) bool {
	t := f.info.Types[e]
	switch {
	case t.IsType():
		return false
	case t.Value != nil:
		f.constant(e, t)
		return false
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return true
	case *ast.SelectorExpr: // its name is no expression
		if isBool(t.Type) {
			f.negate(e)
		}
		f.walk(e.X)
		return false
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.negate(e)
			f.insideNot(e.X)
			return false
		}
	case *ast.BinaryExpr:
		f.binary(e, t.Type)
		return true
	}
	if t.Type != nil && isBool(t.Type) {
		f.negate(e)
	}
	return true
}

// insideNot looks into the operand of !, whose negation would be the negation of the whole.
func (f expressions) insideNot(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.insideNot(e.X)
	case *ast.BinaryExpr:
		f.walk(e)
	case *ast.CallExpr:
		for _, a := range e.Args {
			f.walk(a)
		}
		f.walk(e.Fun)
	case *ast.SelectorExpr:
		f.walk(e.X)
	}
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// negate adds the mutant of a boolean expression that is its opposite.
func (f expressions) negate(e ast.Expr) {
	text := f.text(e)
	after := "!(" + text + ")"
	if u, ok := e.(*ast.UnaryExpr); ok {
		after = f.text(u.X)
	} else if _, ok := e.(*ast.BinaryExpr); !ok {
		after = "!" + text
	}
	f.wrap(f.add(e, Negate, text, after), e, "((", ") != mutantOn(§))")
}

// opposites and neighbors are the operators that replace a comparison.
var (
	opposites = map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL,
		token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	}
	neighbors = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}
	helpers   = map[token.Token]string{
		token.LSS: "mutantLess", token.LEQ: "mutantLessEqual", token.GTR: "mutantGreater", token.GEQ: "mutantGreaterEqual",
		token.ADD: "mutantAdd", token.SUB: "mutantSub", token.MUL: "mutantMul", token.QUO: "mutantQuo",
	}
	inverses = map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL}
)

// binary finds the mutants of an expression with two operands.
func (f expressions) binary(e *ast.BinaryExpr, t types.Type) {
	if by, ok := opposites[e.Op]; ok {
		f.wrap(f.add(e, Relational, f.text(e), f.with(e, by)), e, "((", ") != mutantOn(§))")
	}
	if by, ok := neighbors[e.Op]; ok {
		f.helper(f.add(e, Relational, f.text(e), f.with(e, by)), e)
	}
	if by, ok := inverses[e.Op]; ok && isNumber(t) {
		f.helper(f.add(e, Arithmetic, f.text(e), f.with(e, by)), e)
	}
	switch e.Op {
	case token.LAND, token.LOR:
		f.negate(e)
		by := token.LOR
		if e.Op == token.LOR {
			by = token.LAND
		}
		// By De Morgan: a || b is !(!a && !b).
		m := f.add(e, Logical, f.text(e), f.with(e, by))
		f.wrap(m, e, "((", ") != mutantOn(§))")
		f.wrap(m, e.X, "((", ") != mutantOn(§))")
		f.wrap(m, e.Y, "((", ") != mutantOn(§))")
		f.clause(e, e.X, f.text(e.Y))
		f.clause(e, e.Y, f.text(e.X))
	}
}

// with returns a binary expression with another operator.
func (f expressions) with(e *ast.BinaryExpr, op token.Token) string {
	return f.text(e.X) + " " + op.String() + " " + f.text(e.Y)
}

// clause adds the mutant without an operand. The left operand of a && b && c is a && b, whose
// operands are left out one by one.
func (f expressions) clause(e *ast.BinaryExpr, operand ast.Expr, rest string) {
	if inner, ok := operand.(*ast.BinaryExpr); ok && inner.Op == e.Op {
		return
	}
	m := f.add(operand, Clause, f.text(e), rest)
	if e.Op == token.LAND {
		f.wrap(m, operand, "((", ") || mutantOn(§))")
	} else {
		f.wrap(m, operand, "((", ") && !mutantOn(§))")
	}
}

// helper replaces an operator by a function that does the same unless the mutant is on.
func (f expressions) helper(m int, e *ast.BinaryExpr) {
	name := helpers[e.Op]
	f.splice(m, f.at(e.Pos()), f.at(e.End()), true, func(number int, inside string) string {
		return name + "(" + strconv.Itoa(number) + ", " + inside + ")"
	})
	at := f.at(e.OpPos)
	f.splice(m, at, at+len(e.Op.String()), true, func(int, string) string { return "," })
}

func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0 && b.Info()&types.IsComplex == 0
}

// constant adds the mutants of a constant: the other boolean, or other integers or durations.
func (f expressions) constant(e ast.Expr, t types.TypeAndValue) {
	if t.Value.Kind() == constant.Bool {
		f.wrap(f.add(e, Bool, f.text(e), strconv.FormatBool(!constant.BoolVal(t.Value))), e, "((", ") != mutantOn(§))")
		return
	}
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.CHAR {
		return
	}
	value, exact := constant.Int64Val(constant.ToInt(t.Value))
	if !exact {
		return
	}
	if named, ok := t.Type.(*types.Named); ok {
		if named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time" && named.Obj().Name() == "Duration" {
			f.duration(e, value)
		}
		return
	}
	b, ok := t.Type.(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUntyped != 0 {
		return
	}
	seen := map[int64]bool{value: true}
	for _, v := range []int64{0, 1, value + 1, value * 2, value / 2} {
		if seen[v] {
			continue
		}
		seen[v] = true
		text := strconv.FormatInt(v, 10)
		f.wrap(f.add(e, Constant, f.text(e), text), e, "mutantPick["+b.Name()+"](§, "+text+", ", ")")
	}
}

// duration adds the mutants of a duration: zero, twice as long and half as long.
func (f expressions) duration(e ast.Expr, value int64) {
	text := f.text(e)
	others := []string{"0", "2*(" + text + ")", "(" + text + ")/2"}
	if value == 0 {
		others = []string{"1000000000"}
	}
	for _, other := range others {
		f.wrap(f.add(e, Constant, text, other), e, "mutantPick[time.Duration](§, "+other+", ", ")")
	}
}
