package histories

import (
	"fmt"
	"time"
)

// maxTime leaves room to add and double times: 73 years.
const maxTime time.Duration = 1 << 61

// validator holds the state that the rules of the format need. It grows with
// the number of processes and active faults, not with the length of the history.
type validator struct {
	locks   map[string]Lock // of the header; nil when it lists none
	last    time.Duration
	open    map[int]Event // the invoke of each process's open operation
	retired map[int]string
	faults  map[int]string  // active faults by ID
	named   map[string]bool // whether the members of a double barrier name their rounds
}

func newValidator(locks map[string]Lock) *validator {
	return &validator{locks: locks, open: map[int]Event{}, retired: map[int]string{}, faults: map[int]string{}, named: map[string]bool{}}
}

func needProcess(e *Event) error {
	if e.Process < 0 {
		return fmt.Errorf("%s needs a process, not %d", e.Type, e.Process)
	}
	return nil
}

func missing(e *Event, field string) error {
	return fmt.Errorf("required field %q of %s is missing", field, e.Type)
}
