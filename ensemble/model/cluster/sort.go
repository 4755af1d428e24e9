package cluster

import (
	"cmp"
	"maps"
	"slices"
)

// sorted returns a map's keys in order: nothing depends on the order of a map.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
