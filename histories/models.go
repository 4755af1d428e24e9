package histories

import (
	"fmt"
	"slices"
	"strings"
)

// Model says what a sequence of operations may do to a lock or a register, in the words of
// Knossos and of Jepsen's tests. Package checker/models has the steps.
type Model struct {
	Name    string
	Summary string // one line

	Owners    bool // a release is by the owner of the acquire
	Reentrant bool // its owner may acquire it again
	Fenced    bool // grants have fences that grow
	Permits   bool // it has a number of permits
	Register  bool // it is read and written
}

// The names of models that are chosen by what a file shows.
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

// Models returns the models that a history may be judged by.
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
