package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// failures records why a client has no connection: the last error of each server.
type failures struct {
	mu  sync.Mutex
	all map[string]error // by server
}

var errNoAnswerYet = errors.New("no answer yet")

// unconnected is the error of a call that ended without a connection. It has the reason.
type unconnected struct{ error }

func (u unconnected) Unwrap() error { return u.error }

// attempting notes an attempt to connect to a server of which no error is known yet.
func (f *failures) attempting(server string) {
	f.mu.Lock()
	_, known := f.all[server]
	f.mu.Unlock()
	if !known {
		f.failed(server, fmt.Errorf("%s: %w", server, errNoAnswerYet))
	}
}

// failed notes why there is no connection to a server.
func (f *failures) failed(server string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[string]error)
	}
	f.all[server] = err
}

// succeeded notes that there is a connection.
func (f *failures) succeeded() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = nil
}

// complete reports whether all servers have failed. servers is their number.
func (f *failures) complete(servers int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.all {
		if errors.Is(err, errNoAnswerYet) {
			return false
		}
	}
	return len(f.all) >= servers
}

// refusal returns the error for callers when the servers have refused the client: the last
// error of each server.
func (f *failures) refusal() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []any
	for _, server := range slices.Sorted(maps.Keys(f.all)) {
		errs = append(errs, f.all[server])
	}
	return fmt.Errorf("recipes: "+strings.TrimSuffix(strings.Repeat("%w; ", len(errs)), "; "), errs...)
}

// noSession returns the error for a caller whose wait for a session was ended by cause. It
// has the last error of each server.
func (f *failures) noSession(cause error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) == 0 {
		return cause
	}
	var format strings.Builder
	args := []any{cause}
	for _, server := range slices.Sorted(maps.Keys(f.all)) {
		if len(args) > 1 {
			format.WriteString("; ")
		}
		format.WriteString("%w")
		args = append(args, f.all[server])
	}
	return unconnected{fmt.Errorf("%w (last: "+format.String()+")", args...)}
}
