package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"

	"github.com/zkverify/zkverify/ensemble/docker"
)

// job holds the fields of a Kubernetes Job that these tests check.
type job struct {
	Kind string
	Spec struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Template                 struct {
			Spec struct {
				Containers []container
				Volumes    []struct{ Name string }

				AutomountServiceAccountToken *bool           `yaml:"automountServiceAccountToken"`
				SecurityContext              securityContext `yaml:"securityContext"`
			}
		}
	}
}

// container is a container of a pod.
type container struct {
	Image        string
	Env          []struct{ Name, Value string }
	Command      []string
	Args         []string
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	SecurityContext securityContext `yaml:"securityContext"`
	Resources       struct{ Requests, Limits map[string]string }
}

// securityContext is the security context of a pod or a container.
type securityContext struct {
	RunAsNonRoot             bool                  `yaml:"runAsNonRoot"`
	RunAsUser                int64                 `yaml:"runAsUser"`
	SeccompProfile           struct{ Type string } `yaml:"seccompProfile"`
	AllowPrivilegeEscalation *bool                 `yaml:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool                  `yaml:"readOnlyRootFilesystem"`
	Capabilities             struct{ Drop, Add []string }
}

// A cluster that enforces the restricted Pod Security Standard admits the pods, and each pod
// limits the resources that it takes from its node.
func TestPodsOnKubernetesAreRestricted(t *testing.T) {
	no := func(b *bool) bool { return b != nil && !*b }
	for _, file := range []string{"nightly.yaml", "merge.yaml"} {
		pod := jobOf(t, file).Spec.Template.Spec
		if s := pod.SecurityContext; !s.RunAsNonRoot || s.RunAsUser == 0 || s.SeccompProfile.Type != "RuntimeDefault" || !no(pod.AutomountServiceAccountToken) {
			t.Errorf("%s: the pod: %+v", file, s)
		}
		for _, c := range pod.Containers {
			if s := c.SecurityContext; !no(s.AllowPrivilegeEscalation) || !s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || s.Capabilities.Add != nil {
				t.Errorf("%s: the container: %+v", file, s)
			}
			for _, what := range []string{"cpu", "memory", "ephemeral-storage"} {
				if c.Resources.Requests[what] == "" || c.Resources.Limits[what] == "" {
					t.Errorf("%s: %s is not bounded: %+v", file, what, c.Resources)
				}
			}
			for _, variable := range regexp.MustCompile(`"[^"]*"|\$\w+`).FindAllString(c.Args[0], -1) {
				if strings.HasPrefix(variable, "$") {
					t.Errorf("%s: %s is not quoted", file, variable)
				}
			}
		}
	}
}

// Images of others are named by their digests, so that the same image runs every day.
func TestImagesFromOutsideArePinned(t *testing.T) {
	for file, images := range map[string]int{"docker-compose.yml": 2, "docs/kubernetes/Dockerfile": 1, "ensemble/docker/config.go": 1} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if all := regexp.MustCompile(`[a-z/.]+:[0-9a-z.-]+@sha256:[0-9a-f]{64}\b`).FindAll(text, -1); len(all) != images {
			t.Errorf("%s names %q by digest", file, all)
		}
	}
	compose, err := os.ReadFile("../../docker-compose.yml")
	if err != nil || !bytes.Contains(compose, []byte("ZOOKEEPER_IMAGE:-"+docker.DefaultImage+"}")) {
		t.Errorf("docker-compose.yml has another ZooKeeper than %s: %v", docker.DefaultImage, err)
	}
	for _, workflow := range []string{"ci", "nightly", "release"} {
		text, err := os.ReadFile("../../.github/workflows/" + workflow + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range regexp.MustCompile(`uses: (.*)`).FindAllSubmatch(text, -1) {
			if !regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v[0-9.]+$`).Match(action[1]) {
				t.Errorf("%s.yml uses %s", workflow, action[1])
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

// The pods of the Job have the environment in which --shard auto finds their part of the
// runs, and each writes to a folder of the volume that merge reads.
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
		shards = append(shards, string(c.Nightly.Run.Shard))
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

// commandsOf returns the environment of the Job's container, to which it adds more, and the
// arguments with which the container's script starts zkverify.
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
	bin := t.TempDir()
	program := filepath.Join(bin, "zkverify")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(c.Command[0], append(c.Command[1:], c.Args...)...)
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
	for key, value := range env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return env, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
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
