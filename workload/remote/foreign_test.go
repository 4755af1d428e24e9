package remote

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// The name that a worker gives its lock names a folder, and a run waits for the times it
// promises.
func TestWhatAWorkerSaysOfItsLockIsBounded(t *testing.T) {
	const sound = `{"name":"my-lock 2","description":"","recipes":["mutex","election"],"promises":{"progress_bound":8000000000}}`
	for what, change := range map[string][3]string{
		"nothing":               {"", "", ""},
		"a name that is a path": {`my-lock 2`, `../up`, "names its lock"},
		"a name that is above":  {`my-lock 2`, `..`, "names its lock"},
		"a backslash":           {`my-lock 2`, `a\\b`, "names its lock"},
		"a color":               {`my-lock 2`, `\u001b[31m`, "names its lock"},
		"two lines":             {`my-lock 2`, `a\nb`, "names its lock"},
		"no name":               {`my-lock 2`, ``, "names its lock"},
		"a long name":           {`my-lock 2`, strings.Repeat("a", 101), "names its lock"},
		"no recipe":             {`"mutex","election"`, ``, "hosts no recipe"},
		"a recipe of its own":   {`"mutex","election"`, `"party"`, "which is no recipe"},
		"a recipe twice":        {`"mutex","election"`, `"mutex","mutex"`, "named before"},
		"a bound of an hour":    {`8000000000`, `3600000000000`, "promises a bound of 1h0m0s"},
		"a bound below 0":       {`8000000000`, `-1`, "promises a bound of -1ns"},
		"another bound":         {`progress_bound`, `loss_bound":3600000000000,"progress_bound`, "promises a bound of 1h0m0s"},
	} {
		text := strings.Replace(sound, change[0], change[1], 1)
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		for how, hello := range map[string]string{
			"at hello":   text,
			"when asked": text[:strings.Index(text, `,"promises"`)] + "}",
		} {
			promises := text[strings.Index(text, `"promises"`) : len(text)-1]
			script := fmt.Sprintf(`printf '%%s\n' '%s'; read -r command; printf '%%s\n' '%s'; read -r all`,
				fmt.Sprintf(`{"at":1,"event":"hello","protocol":%d,"hosts":%s}`, protocol.Version, hello), `{"at":1,"id":1,`+promises+`}`)
			target, err := Describe(t.Context(), Config{Command: []string{"/bin/sh", "-c", script}, Logs: t.TempDir()}, lock.Settings{})
			if change[2] == "" && err == nil && target.Name() == "my-lock 2" {
				continue
			}
			if change[2] == "" || err == nil || !strings.Contains(err.Error(), "worker 1 ") || !strings.Contains(err.Error(), change[2]) {
				t.Errorf("%s, %s: %v", what, how, err)
			}
		}
	}
}
