package histories

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// userInput and userOutput are the fields of the file that a user's model reads.
type userInput struct {
	Op, Lock string
	Process  int
}

type userOutput struct {
	Type  string
	Token Token
	Value int64
}

// userOperations reads a file for Porcupine as a user would.
func userOperations(t *testing.T, data []byte) (ops []porcupine.Operation) {
	t.Helper()
	var file []struct {
		ClientId     int
		Input        userInput
		Call, Return int64
		Output       userOutput
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, o := range file {
		ops = append(ops, porcupine.Operation{ClientId: o.ClientId, Input: o.Input, Call: o.Call, Output: o.Output, Return: o.Return})
	}
	return ops
}

// userModel is a mutex as a user might write it: 0 is free, and process p holds
// it as p+1.
var userModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		in, out := input.(userInput), output.(userOutput)
		switch {
		case out.Type == "fail":
			return true, state
		case in.Op == "lost" && state == in.Process+1, in.Op == "release" && out.Type == "ok":
			return true, 0
		case in.Op == "acquire" && out.Type == "ok":
			return state == 0, in.Process + 1
		}
		return true, state
	},
}

func TestAModelOfAUserReadsTheFileForPorcupine(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines string
		want  bool
	}{
		{"one after the other", `
			1 invoke 0 acquire, 2 ok 0 acquire, 3 invoke 0 release, 4 ok 0 release, 5 invoke 1 acquire, 6 ok 1 acquire`, true},
		{"both at once", `
			1 invoke 0 acquire, 2 ok 0 acquire, 3 invoke 1 acquire, 4 ok 1 acquire, 5 invoke 0 release, 6 ok 0 release`, false},
		{"the first has lost it", `
			1 invoke 0 acquire, 2 ok 0 acquire, 3 lost 0, 4 invoke 1 acquire, 5 ok 1 acquire`, true},
		{"the first loses it too late", `
			1 invoke 0 acquire, 2 ok 0 acquire, 3 invoke 1 acquire, 4 ok 1 acquire, 5 lost 0`, false},
		{"an acquire that was never answered delays no other process", `
			1 invoke 0 acquire, 3 invoke 1 acquire, 4 ok 1 acquire`, true},
		{"nor does one that failed", `
			1 invoke 0 acquire, 2 fail 0 acquire, 3 invoke 1 acquire, 4 ok 1 acquire`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &History{Header: Header{Version: Version}}
			for _, line := range strings.Split(c.lines, ",") {
				f := strings.Fields(line)
				e := Event{Time: time.Duration(f[0][0] - '0'), Type: Type(f[1]), Process: int(f[2][0] - '0'), Lock: "a"}
				if len(f) > 3 {
					e.Op = Op(f[3])
				}
				h.Events = append(h.Events, e)
			}
			path := t.TempDir() + "/h.porcupine.json"
			if err := WriteFile(path, h); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			ops := userOperations(t, data)
			if got := porcupine.CheckOperations(userModel, ops); got != c.want {
				t.Errorf("the user's model says %v, want %v: %s", got, c.want, data)
			}
		})
	}
}

func TestTheFileForPorcupineHasEveryOperation(t *testing.T) {
	for _, h := range []*History{sample(), everyRecipe()} {
		var b bytes.Buffer
		if err := EncodePorcupine(&b, h); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, e := range h.Events {
			if e.Type == Invoke || e.Type == Lost || e.Type == Crash {
				want++
			}
		}
		ops := userOperations(t, b.Bytes())
		if len(ops) != want {
			t.Errorf("%d operations, want %d", len(ops), want)
		}
		last := map[int]int64{}
		for _, o := range ops {
			if end, ok := last[o.ClientId]; ok && end == math.MaxInt64 || o.Return < o.Call {
				t.Errorf("client %d goes on after what has no end: %v", o.ClientId, o)
			}
			last[o.ClientId] = o.Return
		}
	}
	var none bytes.Buffer
	if err := EncodePorcupine(&none, &History{}); err != nil || none.String() != "[]\n" {
		t.Errorf("of nothing: %q, %v", none.String(), err)
	}
}

func TestAnOperationForPorcupineSaysWhatWasAskedAndAnswered(t *testing.T) {
	var b bytes.Buffer
	if err := EncodePorcupine(&b, sample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`[{"ClientId":0,"Input":{"lock":"a","op":"acquire","owner":"o","process":0},"Call":1000,"Output":{"depth":1,"session":"0x01","token":{"sub":2,"zxid":1099511627776},"type":"ok"},"Return":3000,"Metadata":"lines 3 to 5"}` + "\n",
		`,{"ClientId":0,"Input":{"lock":"a","op":"write","process":0,"store":"plain","value":42},"Call":7000,"Output":{"error":"refused: \"old\"\n\ttoken","type":"fail"},"Return":8000,"Metadata":"lines 9 to 10"}` + "\n",
		`,{"ClientId":0,"Input":{"depth":1,"lock":"a","op":"release","process":0},"Call":13000,"Output":{"type":"info"},"Return":9223372036854775807,"Metadata":"lines 15 to 16"}` + "\n",
		`,{"ClientId":3,"Input":{"lock":"a","op":"lost","process":0,"session":"0x01"},"Call":12000,"Output":{"type":"info"},"Return":9223372036854775807,"Metadata":"line 14"}` + "\n",
		`,{"ClientId":2,"Input":{"lock":"a","op":"try-acquire","permits":2,"process":2},"Call":18000,"Output":{"type":"info"},"Return":9223372036854775807,"Metadata":"line 20"}` + "\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks\n%s it has\n%s", want, b.String())
		}
	}
}
