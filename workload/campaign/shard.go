package campaign

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/report"
)

// automatic stands for the shard that the environment names.
const automatic = "auto"

// shardVariables are the environment variables in which a system that runs one job many
// times gives each instance its index, and the number of instances. Their order matters
// where one system runs inside another: the first that are set count.
var shardVariables = []struct {
	system, index, count string
	first                int // index of the first instance
}{
	{"a Kubernetes Job", "JOB_COMPLETION_INDEX", "ZKVERIFY_SHARDS", 0},
	{"GitLab CI", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1},
	{"CircleCI", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},
	{"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0},
}

// Shard is the value of --shard: the part of the runs that this machine makes, such as 2/4, and ""
// for all runs.
type Shard string

// UnmarshalText is called by kong. It replaces auto by the part that the environment names.
func (s *Shard) UnmarshalText(text []byte) error {
	part, err := shardOf(string(text), os.Getenv)
	*s = Shard(part)
	return err
}

func shardOf(flag string, getenv func(string) string) (string, error) {
	if flag != automatic {
		_, _, err := report.ParseShard(flag)
		return flag, err
	}
	for _, v := range shardVariables {
		index := getenv(v.index)
		if index == "" {
			continue
		}
		count := getenv(v.count)
		if count == "" {
			return "", fmt.Errorf("%s is set, as in %s, but %s is not: set it to the number of parts", v.index, v.system, v.count)
		}
		i, err := strconv.Atoi(index)
		if err != nil {
			return "", fmt.Errorf("%s is %q, which is not a number", v.index, index)
		}
		n, err := strconv.Atoi(count)
		if err != nil {
			return "", fmt.Errorf("%s is %q, which is not a number", v.count, count)
		}
		shard := fmt.Sprintf("%d/%d", i-v.first+1, n)
		if _, _, err := report.ParseShard(shard); err != nil {
			return "", fmt.Errorf("%s is %d and %s is %d: there is no such part", v.index, i, v.count, n)
		}
		return shard, nil
	}
	var known []string
	for _, v := range shardVariables {
		known = append(known, v.index+" and "+v.count)
	}
	return "", errors.New("auto needs one of these pairs in the environment: " + strings.Join(known, ", "))
}

// Part returns the runs of a shard.
func Part[T any](all []T, shard Shard) (mine []T, err error) {
	part, of, err := report.ParseShard(string(shard))
	if err != nil {
		return nil, err
	}
	for i := part - 1; i < len(all); i += of {
		mine = append(mine, all[i])
	}
	return mine, nil
}
