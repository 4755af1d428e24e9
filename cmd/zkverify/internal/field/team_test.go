package field

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/workload/campaign"
)

// judging returns a runner whose runs have these verdicts, one after the other; all further runs
// have the last one. Each run leaves a line in dir/made.
func judging(t *testing.T, dir string, verdicts ...string) runner {
	t.Helper()
	program, all := filepath.Join(dir, "program"), filepath.Join(dir, "verdicts")
	text := fmt.Sprintf(`for out; do :; done # the last argument
echo >>%[1]s/made
made=$(wc -l <%[1]s/made)
[ "$made" -le %[2]d ] || made=%[2]d
sed -n "${made}p" %[3]s >"$out/verdict.json"
`, dir, len(verdicts), all)
	for name, text := range map[string]string{program: text, all: strings.Join(verdicts, "\n") + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return runner{Program: campaign.Program{Path: "/bin/sh", Before: []string{program}}, Campaign: &campaign.Campaign{}, dir: dir}
}
