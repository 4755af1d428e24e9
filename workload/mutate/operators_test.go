package mutate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// operatorCases are functions, an operator, and the copy of each function with the mutants of
// only that operator.
var operatorCases = []struct {
	name     string
	operator Operator
	source   string
	want     string
	mutants  []string
}{
	{
		"a boolean expression is its opposite", Negate,
		`func f(up bool) bool { return up }`,
		`func f(up bool) bool { return ((up) != mutantOn(1)) }`,
		[]string{"up → !up"},
	},
	{
		"the opposite of a negation is what it negates", Negate,
		`func f(up bool) bool { return !up }`,
		`func f(up bool) bool { return ((!up) != mutantOn(1)) }`,
		[]string{"!up → up"},
	},
	{
		"an equality is an inequality", Relational,
		`func f(a, b error) bool { return a == b }`,
		`func f(a, b error) bool { return ((a == b) != mutantOn(1)) }`,
		[]string{"a == b → a != b"},
	},
	{
		"an order is shifted by one, and turned round", Relational,
		`func f(a int) bool { return a < 3 }`,
		`func f(a int) bool { return ((mutantLess(2, a , 3)) != mutantOn(1)) }`,
		[]string{"a < 3 → a >= 3", "a < 3 → a <= 3"},
	},
	{
		"and is or, and b is not looked at if a decides", Logical,
		`func f(a, b bool) bool { return a && b }`,
		`func f(a, b bool) bool { return ((((a) != mutantOn(1)) && ((b) != mutantOn(1))) != mutantOn(1)) }`,
		[]string{"a && b → a || b"},
	},
	{
		"an operand is left out", Clause,
		`func f(a, b, c bool) bool { return a && b || c }`,
		`func f(a, b, c bool) bool { return ((((a) || mutantOn(2)) && ((b) || mutantOn(3))) && !mutantOn(1)) || ((c) && !mutantOn(4)) }`,
		[]string{"a && b || c → c", "a && b → b", "a && b → a", "a && b || c → a && b"},
	},
	{
		"a branch is never taken", Branch,
		`func f(a bool) int { if a { return 1 } else { return 2 } }`,
		`func f(a bool) int { if ((((a) || mutantOn(2))) && !mutantOn(1)) { return 1 } else { return 2 } }`,
		[]string{"if a → if false", "if a → if true"},
	},
	{
		"an error is not looked at", Unchecked,
		`func f(err error) error { if err != nil { return err }; return nil }`,
		`func f(err error) error { if ((err != nil) && !mutantOn(1)) { return err }; return nil }`,
		[]string{"if err != nil → if false"},
	},
	{
		"nil is returned for an error", Swallow,
		`func f(err error) (int, error) { return 1, err }`,
		`func f(err error) (int, error) { return 1, mutantPick[error](1, nil, err) }`,
		[]string{"return 1, err → nil for err"},
	},
	{
		"a case of a select is never taken", Case,
		`func f(c, d chan int) { select { case <-c: case x := <-d: _ = x; case c <- 1: } }`,
		`func f(c, d chan int) { select { case <-mutantZero(1, c): case x := <-mutantZero(2, d): _ = x; case mutantZero(3, c) <- 1: } }`,
		[]string{"case <-c → never", "case x := <-d → never", "case c <- 1 → never"},
	},
	{
		"a case of a switch is never taken, or does nothing", Case,
		`func f(a, b bool) (n int) { switch { case a, b: n = 1; default: n = 2 }; return n }`,
		`func f(a, b bool) (n int) { switch { case ((a) && !mutantOn(1)), ((b) && !mutantOn(1)): n = 1; default: if !mutantOn(2) { n = 2 } }; return n }`,
		[]string{"case a, b → never", "default: n = 2 → does nothing"},
	},
	{
		"a case of a switch over a value does nothing", Case,
		`func f(a any) (n int) { switch a.(type) { case int: n = 1 }; return n }`,
		`func f(a any) (n int) { switch a.(type) { case int: if !mutantOn(1) { n = 1 } }; return n }`,
		[]string{"case int: n = 1 → does nothing"},
	},
	{
		"a loop ends as it begins, and one that has no end is left alone", Loop,
		`func f(all []int) int { for range all { }; for { return 1 } }`,
		`func f(all []int) int { for range all { if mutantOn(1) { break }; }; for { return 1 } }`,
		[]string{"for range all → break at once"},
	},
	{
		"break is continue, where it means the loop", Jump,
		`func f(c chan int) { for { select { case <-c: break; default: }; break } }`,
		`func f(c chan int) { for { select { case <-c: break; default: }; if mutantOn(1) { continue }; break } }`,
		[]string{"break → continue"},
	},
	{
		"an integer is another one", Constant,
		`func f(a []int) []int { return a[:7] }`,
		`func f(a []int) []int { return a[:mutantPick[int](1, 0, mutantPick[int](2, 1, mutantPick[int](3, 8, mutantPick[int](4, 14, mutantPick[int](5, 3, 7)))))] }`,
		[]string{"7 → 0", "7 → 1", "7 → 8", "7 → 14", "7 → 3"},
	},
	{
		"a duration is none, twice and half", Constant,
		`func f() time.Duration { return 3 * time.Second }`,
		`func f() time.Duration { return mutantPick[time.Duration](1, 0, mutantPick[time.Duration](2, 2*(3 * time.Second), mutantPick[time.Duration](3, (3 * time.Second)/2, 3 * time.Second))) }`,
		[]string{"3 * time.Second → 0", "3 * time.Second → 2*(3 * time.Second)", "3 * time.Second → (3 * time.Second)/2"},
	},
	{
		"what has to be constant stays, and so do sizes that are hints", Constant,
		`func f() ([4]int, []int, map[int]int) { const n = 5; return [4]int{}, make([]int, 0, n), make(map[int]int, n) }`,
		`func f() ([4]int, []int, map[int]int) { const n = 5; return [4]int{}, make([]int, mutantPick[int](1, 1, 0), n), make(map[int]int, n) }`,
		[]string{"0 → 1"},
	},
	{
		"true is false", Bool,
		`func f() bool { return true }`,
		`func f() bool { return ((true) != mutantOn(1)) }`,
		[]string{"true → false"},
	},
	{
		"plus is minus, for numbers", Arithmetic,
		`func f(a int, b string) (int, string) { a++; a += 2; return a + 1, b + b }`,
		`func f(a int, b string) (int, string) { if mutantOn(1) { a-- } else { a++ }; if mutantOn(2) { a -= 2 } else { a += 2 }; return mutantAdd(3, a , 1), b + b }`,
		[]string{"a++ → a--", "a += 2 → a -= 2", "a + 1 → a - 1"},
	},
	{
		"a statement is left out, unless it declares, is all of a branch or has to end the function", Drop,
		`func f(c chan int) int { n := 1; defer close(c); n = 2; go f(c); if n == 3 { return 1 }; return n }`,
		`func f(c chan int) int { n := 1; if !mutantOn(1) { defer close(c) }; if !mutantOn(2) { n = 2 }; if !mutantOn(3) { go f(c) }; if n == 3 { return 1 }; return n }`,
		[]string{"defer close(c) → ", "n = 2 → ", "go f(c) → "},
	},
	{
		"neighbors are exchanged, if one of them does something", Swap,
		`func f(c, d chan int, n int) { close(c); close(d); n = 1; n = 2 }`,
		`func f(c, d chan int, n int) { if !mutantOn(1) { close(c) }; if !mutantOn(2) { close(d) }; if mutantOn(1) { close(c) }; n = 1; if mutantOn(2) { close(d) }; n = 2 }`,
		[]string{"close(c); close(d) → close(d); close(c)", "close(d); n = 1 → n = 1; close(d)"},
	},
	{
		"a statement in one line goes before one that declares", Swap,
		`func f(c chan int) int { n := len(c); close(c); return n }`,
		`func f(c chan int) int { if mutantOn(1) { close(c) }; n := len(c); if !mutantOn(1) { close(c) }; return n }`,
		[]string{"n := len(c); close(c) → close(c); n := len(c)"},
	},
	{
		"a field of a struct stays at zero", Field,
		`func f(a int) struct{ a int } { return struct{ a int }{a: a} }`,
		`func f(a int) struct{ a int } { return struct{ a int }{a: mutantZero(1, a)} }`,
		[]string{"a: a → "},
	},
}

func TestOperators(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/small\n\ngo 1.26\n")
	for i, c := range operatorCases {
		imports := ""
		if strings.Contains(c.source, "time.") {
			imports = "import \"time\"\n"
		}
		write(t, dir, folderOf(i)+"/f.go", "package f\n"+imports+c.source+"\n")
	}
	p, err := load(t.Context(), dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range operatorCases {
		t.Run(c.name, func(t *testing.T) {
			k := p.packages[slices.IndexFunc(p.packages, func(k *pkg) bool { return k.name == folderOf(i) })]
			numbers := map[int]int{}
			var mutants []string
			for j, m := range k.found {
				if m.Operator == c.operator && k.numbers[j] != 0 {
					numbers[j] = len(numbers) + 1
					mutants = append(mutants, m.Before+" → "+m.After)
				}
			}
			texts, err := k.texts(func(j int) int { return numbers[j] })
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(texts[0]), "\n")
			if got := lines[len(lines)-1]; got != c.want {
				t.Errorf("the copy is\n%s\nnot\n%s", got, c.want)
			}
			if !slices.Equal(mutants, c.mutants) {
				t.Errorf("the mutants are\n%q\nnot\n%q", mutants, c.mutants)
			}
		})
	}
	for _, op := range Operators() {
		if !slices.ContainsFunc(p.Mutants, func(m Mutant) bool { return m.Operator == op }) {
			t.Errorf("no mutant of operator %s", op)
		}
	}
}

// folderOf returns the folder of a case.
func folderOf(i int) string { return "case" + string(rune('a'+i)) }

// write writes a file of a module.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
