package recipes_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// dataBelow returns the data of the ephemeral nodes below a path, or of the barrier that is set
// there.
func dataBelow(t *testing.T, conn outsider, dir string) (all []string) {
	t.Helper()
	children, _, err := conn.Children(dir)
	if errors.Is(err, zk.ErrNoNode) {
		return nil // a semaphore's place in its queue is deleted after the grant
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range children {
		node := path.Join(dir, child)
		data, stat, err := conn.Get(node)
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if stat.EphemeralOwner != 0 || child == "barrier" {
			all = append(all, string(data))
		}
		all = append(all, dataBelow(t, conn, node)...)
	}
	return all
}

func TestTheNodesOfEveryRecipeSayWhoMadeThem(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		client []recipes.Option
		node   []recipes.LockOption
		want   string
	}{
		"by default":                   {nil, nil, fmt.Sprintf("%s/%d", host, os.Getpid())},
		"by the client's identity":     {[]recipes.Option{recipes.WithIdentity("billing, Zürich")}, nil, "billing, Zürich"},
		"not with an empty identity":   {[]recipes.Option{recipes.WithIdentity("")}, nil, ""},
		"by the lock's data instead":   {nil, []recipes.LockOption{recipes.WithData([]byte("order 7"))}, "order 7"},
		"not with a lock's empty data": {nil, []recipes.LockOption{recipes.WithData(nil)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, conn := connect(t, addrsOf(t), test.client...), admin(t)
			for kind, lock := range lockTrials {
				if kind == "MultiLock with a Semaphore" {
					continue // its mutex is given no options
				}
				at := uniquePath(t)
				held, err := lock(client, at, test.node...)(within(t))
				if err != nil {
					t.Fatal(kind, err)
				}
				data := dataBelow(t, conn, at)
				if len(data) == 0 {
					t.Errorf("%s: no node below %s", kind, at)
				}
				for _, d := range data {
					if d != test.want {
						t.Errorf("%s: a node says %q, want %q", kind, d, test.want)
					}
				}
				if err := held.Release(within(t)); err != nil {
					t.Error(kind, err)
				}
			}
		})
	}
}

func TestAnIdentityThatCannotBePrintedInALineIsRefused(t *testing.T) {
	for name, identity := range map[string]string{
		"a line feed":         "web-3\nroot",
		"a terminal's escape": "web-3\x1b[2J",
		"a null":              "web-3\x00",
		"not UTF-8":           "web-\xff",
		"too long":            strings.Repeat("w", 513),
		"a megabyte":          strings.Repeat("w", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			client, err := recipes.Connect(within(t), []string{"127.0.0.1:1"}, recipes.WithIdentity(identity))
			if !errors.Is(err, recipes.ErrBadOption) {
				t.Errorf("%v", err)
			}
			if err == nil {
				_ = client.Close(within(t))
			} else if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestTheLongestIdentityIsTaken(t *testing.T) {
	longest := strings.Repeat("w", 512)
	m := recipes.NewMutex(connect(t, addrsOf(t), recipes.WithIdentity(longest)), uniquePath(t))
	lease := acquire(t, within(t), m)
	if all, err := m.Participants(within(t)); err != nil || len(all) != 1 || string(all[0].Data) != longest {
		t.Errorf("%v, %v", all, err)
	}
	release(t, lease)
}
