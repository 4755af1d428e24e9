package zktest_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/zktest"
)

// failing is a test that records the text of its failure.
type failing struct {
	*testing.T
	why string
}

func (f *failing) Fatal(args ...any) {
	f.why = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// failure runs a test function, and returns the text of its failure.
func failure(t *testing.T, test func(testing.TB)) string {
	f := &failing{T: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.why
}

func TestMisuseFailsTheTest(t *testing.T) {
	for want, test := range map[string]func(testing.TB){
		`version "3.7.1"`: func(t testing.TB) { zktest.Start(t, zktest.Version("3.7.1")) },
		"0 servers":       func(t testing.TB) { zktest.Start(t, zktest.Servers(0)) },
		"the range is empty": func(t testing.TB) {
			zktest.Start(t, zktest.SessionTimeouts(time.Second, time.Millisecond))
		},
		"no server 4 among 3": func(t testing.TB) { zktest.Start(t).Kill(4) },
		"no server 0 among 3": func(t testing.TB) { zktest.Start(t).Client("one").Cut(0) },
		"server 1 runs":       func(t testing.TB) { zktest.Start(t).Restart(1) },
		"does not run": func(t testing.TB) {
			e := zktest.Start(t)
			e.Kill(2)
			e.Pause(2)
		},
		`client "one" has no session`: func(t testing.TB) { zktest.Start(t).Client("one").Expire() },
	} {
		if got := failure(t, test); !strings.Contains(got, want) {
			t.Errorf("the test fails with %q, want %q", got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for want, test := range map[string]func(testing.TB){
			"a bubble has no TCP": func(t testing.TB) { zktest.Start(t).Client("one").Addrs() },
			"a server leads": func(t testing.TB) {
				e := zktest.Start(t)
				e.Kill(1)
				e.Kill(2)
				time.Sleep(10 * tick)
				e.Leader()
			},
		} {
			if got := failure(t, test); !strings.Contains(got, want) {
				t.Errorf("the test fails with %q, want %q", got, want)
			}
		}
	})
}

const waitsInVain = "ZKTEST_WAITS_IN_VAIN"

// In a bubble time would pass for ever. The process ends and shows the waiting goroutines.
func TestATestThatWaitsInVainEnds(t *testing.T) {
	if os.Getenv(waitsInVain) != "" {
		synctest.Test(t, func(t *testing.T) {
			zktest.Start(t, zktest.Limit(time.Minute))
			<-make(chan int)
		})
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), waitsInVain+"=1")
	out, err := command.CombinedOutput()
	for _, want := range []string{"for too long in its bubble", "misuse_test.go", "chan receive"} {
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("want %q in (%v)\n%s", want, err, out)
		}
	}
}
