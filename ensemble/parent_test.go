package ensemble_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

// parentEnv makes the test binary a program that starts an ensemble, prints the
// numbers of its processes and waits to be killed.
const parentEnv = "ZKVERIFY_TEST_PARENT"

type three struct {
	*ensemble.Local
	network links.Network
}

func startThree(ctx context.Context) (three, error) {
	network, err := links.InProcess()
	if err != nil {
		return three{}, err
	}
	l, err := ensemble.StartLocal(ctx, ensemble.LocalConfig{Peers: network})
	if err != nil {
		return three{}, errors.Join(err, network.Close())
	}
	return three{l, network}, nil
}

func (l three) close() error { return errors.Join(l.Close(), l.network.Close()) }

func beParent() {
	l, err := startThree(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started", l.PID(1), l.PID(2), l.PID(3))
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until the test ends, should it fail to kill this process
	os.Exit(2)
}

func TestNoServerOutlivesAProcessThatIsKilled(t *testing.T) {
	needsServers(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=1", "TMPDIR="+t.TempDir())
	_, err := parent.StdinPipe()
	must(t, err)
	out, err := parent.StdoutPipe()
	must(t, err)
	must(t, parent.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	must(t, parent.Process.Kill())
	_ = parent.Wait()
	words := strings.Fields(line)
	if len(words) != 4 || words[0] != "started" {
		t.Fatalf("the parent said %q", line)
	}
	for _, word := range words[1:] {
		pid, err := strconv.Atoi(word)
		must(t, err)
		eventually(t, "server process "+word+" is gone", func() bool { return gone(pid) })
	}
}

// gone reports whether a process has ended, even if its parent has not waited for it.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
