package ports_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/zkverify/zkverify/ensemble/internal/ports"
)

func TestFreePortsAreDistinctAndCanBeListenedOn(t *testing.T) {
	got, err := ports.Free(50)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range got {
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		seen[port] = true
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

func TestCheckRefusesAPortThatSomebodyListensOn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ports.Check(l.Addr().(*net.TCPAddr).Port) == nil {
		t.Fatal("the port is taken, Check said it is free")
	}
}

func TestTwoProcessesAreGivenDifferentPorts(t *testing.T) {
	if os.Getenv(printEnv) != "" {
		found, err := ports.Free(80)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range found {
			fmt.Println("port", port)
		}
		bufio.NewReader(os.Stdin).ReadString('\n') // until the parent has compared
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has names that end with their process")
	}
	seen := map[string]bool{}
	for range 20 { // 1,600 of some 22,000 ports: without a claim, two are the same for sure
		child := exec.Command(os.Args[0], "-test.run", t.Name()+"$", "-test.count", "1")
		child.Env = append(os.Environ(), printEnv+"=1")
		stdin, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		defer child.Wait()
		defer child.Process.Kill()
		defer stdin.Close()
		lines := bufio.NewScanner(stdout)
		for range 80 {
			if !lines.Scan() {
				t.Fatalf("a process printed too few ports: %v", lines.Err())
			}
			if seen[lines.Text()] {
				t.Fatalf("%s was given to two processes", lines.Text())
			}
			seen[lines.Text()] = true
		}
	}
}

func TestPortsAreGivenAgainWhenAllAreTaken(t *testing.T) {
	for range 30 {
		if _, err := ports.Free(1000); err != nil {
			t.Fatal(err)
		}
	}
}

const printEnv = "ZKVERIFY_TEST_PRINT_PORTS"
