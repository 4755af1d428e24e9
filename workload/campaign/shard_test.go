package campaign

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheEnvironmentNamesTheShard(t *testing.T) {
	for name, c := range map[string]struct {
		env        map[string]string
		want, fail string
	}{
		"the first pod of a Kubernetes Job": {map[string]string{"JOB_COMPLETION_INDEX": "0", "ZKVERIFY_SHARDS": "4"}, "1/4", ""},
		"its last":                          {map[string]string{"JOB_COMPLETION_INDEX": "3", "ZKVERIFY_SHARDS": "4"}, "4/4", ""},
		"one too many":                      {map[string]string{"JOB_COMPLETION_INDEX": "4", "ZKVERIFY_SHARDS": "4"}, "", "JOB_COMPLETION_INDEX is 4 and ZKVERIFY_SHARDS is 4: there is no such part"},
		"a pod that is not told how many":   {map[string]string{"JOB_COMPLETION_INDEX": "0"}, "", "ZKVERIFY_SHARDS is not: set it"},
		"no number":                         {map[string]string{"JOB_COMPLETION_INDEX": "a", "ZKVERIFY_SHARDS": "4"}, "", `JOB_COMPLETION_INDEX is "a"`},
		"no count":                          {map[string]string{"JOB_COMPLETION_INDEX": "0", "ZKVERIFY_SHARDS": "many"}, "", `ZKVERIFY_SHARDS is "many"`},
		"GitLab, which counts from 1":       {map[string]string{"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}, "1/3", ""},
		"CircleCI":                          {map[string]string{"CIRCLE_NODE_INDEX": "1", "CIRCLE_NODE_TOTAL": "3"}, "2/3", ""},
		"Buildkite":                         {map[string]string{"BUILDKITE_PARALLEL_JOB": "2", "BUILDKITE_PARALLEL_JOB_COUNT": "3"}, "3/3", ""},
		"nothing":                           {nil, "", "auto needs one of these pairs in the environment: JOB_COMPLETION_INDEX and ZKVERIFY_SHARDS, "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shardOf("auto", func(key string) string { return c.env[key] })
			if got != c.want || (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestPartsShareTheRuns(t *testing.T) {
	for shard, want := range map[Shard]string{"": "[a b c d e]", "1/2": "[a c e]", "2/2": "[b d]", "6/6": "[]"} {
		if got, err := Part([]string{"a", "b", "c", "d", "e"}, shard); err != nil || fmt.Sprint(got) != want {
			t.Errorf("part %q is %v, error %v; want %s", shard, got, err, want)
		}
	}
}
