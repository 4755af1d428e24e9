package workload

import (
	"path"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// What recipesTarget offers besides the mutex of target_recipes.go is in the
// files target_recipes_<recipe>.go.
var _ Collection = recipesTarget{}

// Recipes says that package recipes has these.
func (recipesTarget) Recipes() []histories.Recipe {
	return []histories.Recipe{
		histories.Mutex, histories.NonReentrant, histories.ReadWrite, histories.MultiLock, histories.Semaphore,
		histories.SharedSemaphore, histories.Revocation, histories.Barrier, histories.DoubleBarrier,
	}
}

// path is where a lock lives.
func (c *recipesClient) path(lock string) string { return path.Join(c.env.Root, lock) }

// sequence reads ZooKeeper's number off the name of a sequential node. It is
// negative when the numbers have wrapped.
func sequence(node string) int {
	i := strings.LastIndexByte(node, '-')
	if i > 0 && node[i-1] == '-' {
		i-- // of a negative number
	}
	n, _ := strconv.Atoi(node[i+1:])
	return n
}
