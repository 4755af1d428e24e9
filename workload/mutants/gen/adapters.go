package main

import (
	"fmt"
	"regexp"
	"strings"
)

// The mutants' target is made of the recipes' one: of every file
// targets/recipes*.go but notAdapted.
const (
	adapters   = "workload/targets/recipes"
	notAdapted = "workload/targets/recipes_all.go" // a mutant offers one recipe
)

// adapt makes an adapter of package mutants of one of package recipes.
func adapt(file, text string) (string, error) {
	for _, e := range adapterEdits {
		if e.File != "" && adapters+e.File != file {
			continue
		}
		if e.File != "" && strings.Count(text, e.Old) != 1 {
			return "", fmt.Errorf("%s does not have, once:\n%s", file, e.Old)
		}
		text = strings.ReplaceAll(text, e.Old, e.New)
	}
	for _, r := range renamed {
		text = r.name.ReplaceAllString(text, r.by)
	}
	return text, nil
}

// adapterEdits are in the file targets/recipes<File>, or in all.
var adapterEdits = []edit{
	{".go", "recipesTarget is the Mutex of package recipes.", "mutantTarget is one recipe of package mutants with one defect."},
	{".go", "type recipesTarget struct{}", "type recipesTarget struct{ mutants.Defect }"},
	{".go", `func (recipesTarget) Name() string   { return "recipes" }`, "func (t recipesTarget) Name() string { return t.Defect.Name }"},
	{".go", `func (recipesTarget) Recipe() string { return "mutex" }`, "func (t recipesTarget) Recipe() string { return string(t.Defect.Recipe) }"},
	{".go", `return "recipes.Mutex: fair, reentrant, with tokens, tells of a loss before it can matter"`, "return t.What + \" (\" + t.Bug + \")\""},
	{".go", "func (recipesTarget) Description", "func (t recipesTarget) Description"},
	{".go", "func (recipesTarget) Open", "func (t recipesTarget) Open"},
	{".go", "	options := []recipes.Option{", "	options := []mutants.Option{\n		mutants.WithDefect(t.Defect.Name),"},
	{"", "the recipes'", "the mutants'"},
	{"", "zkverify/recipes\"", "zkverify/workload/mutants\""},
	{"", "recipes.", "mutants."},
}

// renamed are the adapter's own names.
var renamed = []struct {
	name *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\brecipes([A-Z])`), "mutant$1"},
	{regexp.MustCompile(`\bwrap([A-Z])`), "wrapMutant$1"},
}
