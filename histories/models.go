package histories

import (
	"fmt"
	"slices"
	"strings"
)

// Model is a sequential specification of a lock or a register, under the name that
// Knossos and Jepsen's tests use. Package checker/models defines the steps.
type Model struct {
	Name    string
	Summary string // one line

	Owners    bool // only the owner of the acquire may release
	Reentrant bool // the owner may acquire again
	Fenced    bool // grants have fences that grow
	Permits   bool // the lock has a number of permits
	Register  bool // a register, which is read and written
}

// The names of the models that a reader may choose from the operations of a file.
const (
	ModelMutex           = "mutex"
	ModelOwnerMutex      = "owner-mutex"
	ModelReentrantMutex  = "reentrant-mutex"
	ModelFencedMutex     = "fenced-mutex"
	ModelReentrantFenced = "reentrant-fenced-mutex"
	ModelRegister        = "register"
	ModelCASRegister     = "cas-register"
	ModelMultiRegister   = "multi-register"
)

var models = []Model{
	{Name: ModelMutex, Summary: "one holder; any process may release"},
	{Name: ModelOwnerMutex, Summary: "one holder, who alone may release", Owners: true},
	{Name: ModelReentrantMutex, Summary: "one holder, who may acquire it again", Owners: true, Reentrant: true},
	{Name: ModelFencedMutex, Summary: "one holder; fences grow from grant to grant", Owners: true, Fenced: true},
	{Name: ModelReentrantFenced, Summary: "one holder, who may acquire it again; fences grow from grant to grant", Owners: true, Reentrant: true, Fenced: true},
	{Name: "semaphore", Summary: "a number of permits; any process may release", Permits: true},
	{Name: "owner-semaphore", Summary: "a number of permits, which their holders release", Permits: true, Owners: true},
	{Name: ModelRegister, Summary: "a value that is read and written", Register: true},
	{Name: ModelCASRegister, Summary: "a value that is read, written, and compared and set", Register: true},
	{Name: ModelMultiRegister, Summary: "values that transactions read and write", Register: true},
}

// Models returns the models by which a history may be judged.
func Models() []Model { return slices.Clone(models) }

// ModelNamed returns the model of this name.
func ModelNamed(name string) (Model, error) {
	names := make([]string, len(models))
	for i, m := range models {
		if m.Name == name {
			return m, nil
		}
		names[i] = m.Name
	}
	return Model{}, fmt.Errorf("there is no model %.40q; there are %s", name, strings.Join(names, ", "))
}
