package transactions

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/lock"
)

// isRun reports whether a folder is that of a run with a record of what its servers did.
func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, service.FileName))
	return err == nil
}

// lives prints the lives of the lock nodes of a run.
func (c *Command) lives(out io.Writer) error {
	if c.Path != "" || c.JSON {
		return Refused{fmt.Errorf("--path and --json are for the logs of servers, and this is the folder of a run: use --lock, or read its %s", service.FileName)}
	}
	session, err := c.session()
	if err != nil {
		return Refused{err}
	}
	file := filepath.Join(c.Dirs[0], folder.History)
	h, err := histories.ReadFile(file)
	if err != nil {
		return Refused{err}
	}
	l, err := folder.Service(file, h.Header)
	switch {
	case err != nil:
		return Refused{err}
	case l == nil:
		return Refused{fmt.Errorf("%s is of another run than the history beside it", service.FileName)}
	}
	var locks []string
	for i := range l.Nodes {
		if name := l.Nodes[i].Lock(); (c.Lock == "" || c.Lock == name) && !slices.Contains(locks, name) {
			locks = append(locks, name)
		}
	}
	if len(locks) == 0 && c.Lock != "" {
		return Refused{errors.New("no lock " + c.Lock + " had a node in this run")}
	}
	slices.Sort(locks)
	w := bufio.NewWriter(out)
	for _, name := range locks {
		words.Fprintf(w, "%s\n", name)
		for _, life := range checker.Lives(h, l, name) {
			if session == 0 || life.Session == lock.SessionName(session) {
				fmt.Fprintln(w, "  "+lifeLine(life))
			}
		}
	}
	return w.Flush()
}

// lifeLine returns the life of a lock node in one line.
func lifeLine(l checker.Life) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x  %s  %s", l.Created.Zxid, verdict.At(l.Created.Time), l.Session)
	if l.Process >= 0 {
		fmt.Fprintf(&b, "  process %d", l.Process)
	}
	fmt.Fprintf(&b, "  %q", cmp.Or(l.Name(), l.Path))
	for _, held := range l.Beliefs {
		fmt.Fprintf(&b, ", believed to hold the lock from %s", verdict.At(held.From))
		if held.Process != l.Process {
			fmt.Fprintf(&b, " (process %d)", held.Process)
		}
		if held.Open {
			b.WriteString(" to the end of the history")
		} else {
			fmt.Fprintf(&b, " to %s (%s)", verdict.At(held.To), held.How)
		}
	}
	if len(l.Beliefs) == 0 {
		b.WriteString(", no grant on record")
	}
	return b.String() + ", " + l.End
}
