package mutate

import (
	"fmt"
	"strings"
)

// Mutant is one change at one place.
type Mutant struct {
	Number     int      `json:"number"` // from 1, in the order of the source; it changes with the source
	Package    string   `json:"package"`
	File       string   `json:"file"` // below the module's folder, with slashes
	Line       int      `json:"line"`
	Func       string   `json:"func"` // (*pace).next, newPace; "var" outside of functions
	Operator   Operator `json:"operator"`
	Before     string   `json:"before"`     // the code, in one line
	After      string   `json:"after"`      // the code of the mutant
	Occurrence int      `json:"occurrence"` // of the same change in the function, from 1

	decl   int // the declaration of its file that it is in
	offset int // of the code in its file
}

// Key identifies a mutant for as long as its function has that code: it has no line and
// no number.
func (m Mutant) Key() string {
	key := fmt.Sprintf("%s.%s %s: %s → %s", m.Package, m.Func, m.Operator, m.Before, m.After)
	if m.Occurrence > 1 {
		key += fmt.Sprintf(" #%d", m.Occurrence)
	}
	return key
}

// String returns the mutant in a line, with its place.
func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s: %s → %s", m.File, m.Line, m.Func, m.Operator, m.Before, m.After)
}

// Operator is a kind of change.
type Operator string

// The operators.
const (
	Negate     Operator = "negate"     // a boolean expression is its opposite
	Relational Operator = "relational" // == is !=, < is <= or >=, and so on
	Logical    Operator = "logical"    // && is ||, || is &&
	Clause     Operator = "clause"     // an operand of && or || is left out
	Branch     Operator = "branch"     // the branch of an if or else is never taken
	Unchecked  Operator = "unchecked"  // an error is not looked at
	Swallow    Operator = "swallow"    // nil is returned for an error
	Case       Operator = "case"       // a case of a select or switch is never taken, or does nothing
	Loop       Operator = "loop"       // a loop ends as it begins
	Jump       Operator = "jump"       // break is continue, continue is break
	Constant   Operator = "constant"   // an integer or a duration is another one
	Bool       Operator = "bool"       // true is false, false is true
	Arithmetic Operator = "arithmetic" // + is -, * is /, and the other way round
	Drop       Operator = "drop"       // a statement is left out
	Swap       Operator = "swap"       // two neighboring statements are exchanged
	Field      Operator = "field"      // a field of a struct literal is left at zero
)

// Operators lists them.
func Operators() []Operator {
	return []Operator{
		Negate, Relational, Logical, Clause, Branch, Unchecked, Swallow, Case, Loop, Jump,
		Constant, Bool, Arithmetic, Drop, Swap, Field,
	}
}

// longest is the number of characters of code that a key and a line show.
const longest = 100

// oneLine returns code in one line, cut if it is long.
func oneLine(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if r := []rune(code); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return code
}
