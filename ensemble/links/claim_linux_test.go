package links_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/zkverify/zkverify/ensemble/links"
)

// printEnv makes a process of this test print ports.
const printEnv = "ZKVERIFY_TEST_PRINT_PORTS"

func TestTwoProcessesAreGivenDifferentPorts(t *testing.T) {
	if os.Getenv(printEnv) != "" {
		found, err := links.FreePorts(80)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range found {
			fmt.Println("port", port)
		}
		bufio.NewReader(os.Stdin).ReadString('\n') // until the parent has compared
		return
	}
	seen := map[string]bool{}
	for range 20 { // 1,600 of some 22,000 ports: without a claim, two are surely the same
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
				t.Fatalf("a processPorts printed too few ports: %v", lines.Err())
			}
			if seen[lines.Text()] {
				t.Fatalf("%s was given to two processes", lines.Text())
			}
			seen[lines.Text()] = true
		}
	}
}
