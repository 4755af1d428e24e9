package failpoints_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/failpoints"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listener answers as Byteman does. It recognizes the end of a request by its last line,
// and chooses the answer by the first. It returns the agent, and a function that returns
// the requests.
func listener(t *testing.T, answers map[string]string) (failpoints.Agent, func() []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan []string, 1)
	go func() { // ends with the listener
		var all []string
		defer func() { asked <- all }()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request := readRequest(conn)
			all = append(all, request)
			first, _, _ := strings.Cut(request, "\n")
			_, _ = io.WriteString(conn, answers[first])
			conn.Close()
		}
	}()
	stop := func() []string { l.Close(); return <-asked }
	t.Cleanup(func() { l.Close() })
	return failpoints.Agent{Addr: l.Addr().String()}, stop
}

// readRequest reads lines until a request is complete.
func readRequest(conn net.Conn) string {
	var b strings.Builder
	one := make([]byte, 1)
	for {
		if _, err := conn.Read(one); err != nil {
			return b.String()
		}
		b.WriteByte(one[0])
		text := b.String()
		if text == "LIST\n" || text == "VERSION\n" || slices.ContainsFunc([]string{"LOAD", "DELETE", "SETSYSPROPS"}, func(c string) bool { return strings.HasSuffix(text, "\nEND"+c+"\n") }) {
			return text
		}
	}
}

func TestRulesAreLoadedAndRemoved(t *testing.T) {
	a, asked := listener(t, map[string]string{
		"LOAD": "install rule zkverify x\nOK\n", "VERSION": "4.0.20\nOK\n",
		"LIST": "# File zkverify-1 line 1\nRULE zkverify x\nTransformed in:\ntrigger method: X.x()\ncompiled successfully\nOK\n", "DELETE": "uninstall RULE zkverify x\nOK\n",
	})
	if err := errors.Join(a.Check(t.Context()), a.Load(t.Context(), "RULE zkverify x\nENDRULE\n", "RULE zkverify y\nENDRULE\n"), a.Unload(t.Context(), "RULE zkverify x\nENDRULE\n")); err != nil {
		t.Error(err)
	}
	want := "VERSION\n|LOAD\nSCRIPT zkverify-1\nRULE zkverify x\nENDRULE\nENDSCRIPT\nSCRIPT zkverify-2\nRULE zkverify y\nENDRULE\nENDSCRIPT\nENDLOAD\n|LIST\n|DELETE\nSCRIPT zkverify-1\nRULE zkverify x\nENDRULE\nENDSCRIPT\nENDDELETE\n"
	if got := strings.Join(asked(), "|"); got != want {
		t.Errorf("asked:\n%s\nwant:\n%s", got, want)
	}
}

func TestARuleThatCannotBeCarriedOutIsAnError(t *testing.T) {
	const listed = "RULE zkverify x\nTransformed in:\nloader: app\ntrigger method: X.x()\n"
	for name, answers := range map[string]map[string]string{
		"its text is wrong":                    {"LOAD": "EXCEPTION org.jboss.byteman.rule.exception.ParseException\nOK\n"},
		"its place is not there":               {"LOAD": "install rule zkverify x\nOK\n", "LIST": listed + "threw java.lang.Exception: no such trigger\nOK\n", "DELETE": "OK\n"},
		"its text is wrong for the place":      {"LOAD": "OK\n", "LIST": listed + "failed to type check rule\nOK\n", "DELETE": "OK\n"},
		"it cannot be removed":                 {"LOAD": "OK\n", "LIST": listed + "OK\n", "DELETE": "VerifyError during retransformation\nOK\n"},
		"the request is not understood at all": {"LOAD": "ERROR\nUnexpected command LOAD\nOK\n"},
	} {
		t.Run(name, func(t *testing.T) {
			a, asked := listener(t, answers)
			err := a.Load(t.Context(), "RULE zkverify x\nENDRULE\n")
			if _, there := answers["LIST"]; there && err == nil {
				err = a.Unload(t.Context(), "RULE zkverify x\nENDRULE\n")
			}
			if !errors.Is(err, failpoints.ErrRefused) {
				t.Errorf("error %v, want ErrRefused", err)
			}
			if all := asked(); answers["LIST"] != "" && !strings.HasPrefix(all[len(all)-1], "DELETE\n") {
				t.Errorf("the rules were not removed: %q", all)
			}
		})
	}
}

func TestRemovingWhereThereIsNoRuleIsNoError(t *testing.T) {
	a, _ := listener(t, map[string]string{"LIST": "no rules installed\nOK\n", "DELETE": "ERROR failed to find loaded rule with name zkverify x\nOK\n"})
	if err := a.Unload(t.Context(), "RULE zkverify x\nENDRULE\n"); err != nil {
		t.Error(err)
	}
}

func TestAServerThatDoesNotAnswerIsAnError(t *testing.T) {
	cut, _ := listener(t, map[string]string{"LOAD": "install rule zkv"})
	if err := cut.Load(t.Context(), "RULE\n"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an answer that is cut off: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, no process answers
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := (failpoints.Agent{Addr: silent.Addr().String()}).Check(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	silent.Close()
	if err := (failpoints.Agent{Addr: silent.Addr().String()}).Check(t.Context()); err == nil {
		t.Error("Check finds Byteman where no process listens")
	}
}
