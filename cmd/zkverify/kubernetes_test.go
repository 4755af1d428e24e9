package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/shard"
)

// job is what of a Kubernetes Job these tests look at.
type job struct {
	Kind string
	Spec struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Template                 struct {
			Spec struct {
				Containers []struct {
					Env          []struct{ Name, Value string }
					Command      []string
					Args         []string
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

func jobOf(t *testing.T, file string) job {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubernetes/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var j job
		if err := yaml.Unmarshal(document, &j); err != nil {
			t.Fatal(err)
		}
		if j.Kind == "Job" {
			return j
		}
	}
	t.Fatalf("%s has no Job", file)
	return job{}
}

// The pods of the Job are told the part of the runs that --shard auto looks for,
// and each writes to a folder of the volume that merge reads.
func TestThePodsOfTheKubernetesJobShareTheRuns(t *testing.T) {
	nightly, merge := jobOf(t, "nightly.yaml"), jobOf(t, "merge.yaml")
	if s := nightly.Spec; s.CompletionMode != "Indexed" || s.Completions < 2 || s.Parallelism != s.Completions {
		t.Errorf("%+v", s)
	}
	var shards []string
	for i := range nightly.Spec.Completions {
		env, commands := commandsOf(t, nightly, map[string]string{"JOB_COMPLETION_INDEX": strconv.Itoa(i)})
		var c cli
		for key, value := range env {
			t.Setenv(key, value)
		}
		parse(t, &c, commands)
		part, err := shard.Named(c.Nightly.Run.Shard, os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		shards = append(shards, part)
		if want := "/results/" + env["SEED"] + "/part-" + strconv.Itoa(i); c.Nightly.Run.Each.Out != want {
			t.Errorf("pod %d writes to %s, not to %s", i, c.Nightly.Run.Each.Out, want)
		}
	}
	if !slices.Equal(shards, []string{"1/4", "2/4", "3/4", "4/4"}) {
		t.Errorf("parts %v", shards)
	}
	var c cli
	env, command := commandsOf(t, merge, nil)
	parse(t, &c, command)
	if dirs := c.Nightly.Merge.Dirs; !slices.Equal(dirs, []string{"/results/" + env["SEED"] + "/part-*"}) {
		t.Errorf("merge reads %v", dirs)
	}
	for _, j := range []job{nightly, merge} {
		pod := j.Spec.Template.Spec
		if m := pod.Containers[0].VolumeMounts[0]; m.MountPath != "/results" || m.Name != pod.Volumes[0].Name {
			t.Errorf("volumes %+v, mounts %+v", pod.Volumes, m)
		}
	}
}

var programLine = regexp.MustCompile(`(?m)^(?:exec )?zkverify (.*)$`)

// commandsOf returns the environment of the Job's container, with more, and the
// arguments of zkverify in it.
func commandsOf(t *testing.T, j job, more map[string]string) (env map[string]string, args []string) {
	t.Helper()
	c := j.Spec.Template.Spec.Containers[0]
	env = map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	for key, value := range more {
		env[key] = value
	}
	line := programLine.FindStringSubmatch(c.Args[0])
	if line == nil || !slices.Equal(c.Command, []string{"sh", "-c"}) {
		t.Fatalf("%q does not run zkverify", c.Args)
	}
	return env, strings.Fields(os.Expand(line[1], func(key string) string { return env[key] }))
}

func parse(t *testing.T, c *cli, args []string) {
	t.Helper()
	parser, err := kong.New(c, helpVars())
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
}
