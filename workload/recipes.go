package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/internal/drive"
	"github.com/zkverify/zkverify/workload/lock"
)

// RecipeInfo describes one recipe that can be driven.
type RecipeInfo struct {
	Recipe      histories.Recipe
	Description string // one line
}

// Recipes returns the recipes that can be driven, in the order of histories.Recipes.
func Recipes() (all []RecipeInfo) {
	for _, r := range drive.Recipes() {
		all = append(all, RecipeInfo{r.Name, r.Description})
	}
	return all
}

// SelectRecipes returns the recipes of a target that have these names; "all" means all that it
// offers. The error lists the names that are possible.
func SelectRecipes(t lock.Target, names []string) ([]histories.Recipe, error) {
	offers := lock.RecipesOf(t)
	if len(names) == 0 {
		return []histories.Recipe{histories.Recipe(t.Recipe())}, nil
	}
	if slices.Contains(names, "all") {
		return offers, nil
	}
	wanted := make(map[histories.Recipe]bool)
	for _, name := range names {
		r := histories.Recipe(name)
		if !slices.Contains(histories.Recipes(), r) {
			return nil, UnknownRecipe(name)
		}
		if !slices.Contains(offers, r) {
			return nil, fmt.Errorf("target %s does not offer %s, but %s", t.Name(), r, joined(offers))
		}
		wanted[r] = true
	}
	return slices.DeleteFunc(offers, func(r histories.Recipe) bool { return !wanted[r] }), nil
}

// UnknownRecipe returns the error for the name of an unknown recipe.
func UnknownRecipe(name string) error {
	known := []string{"all"}
	for _, r := range histories.Recipes() {
		known = append(known, string(r))
	}
	return words.Unknown("recipe", name, known, words.Known(known))
}

func joined(recipes []histories.Recipe) string {
	var names []string
	for _, r := range recipes {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}
