package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is the path of this module.
const module = "github.com/zkverify/zkverify"

// allowed lists the packages of the module that each package may import, in accordance
// with docs/architecture.md. Imports point one way.
var allowed = map[string][]string{
	"recipes":                            {"internal/zkconn", "recipes/internal/barrier", "recipes/internal/queue", "recipes/internal/session"},
	"recipes/bench":                      {"recipes", "ensemble", "ensemble/links", "workload/lock", "workload/remote"},
	"recipes/inspect":                    {"recipes", "recipes/internal/queue", "recipes/internal/session"},
	"recipes/interop":                    {},
	"recipes/kerberos":                   {"internal/zkconn"},
	"recipes/otelobserver":               {"recipes"},
	"recipes/promobserver":               {"recipes"},
	"recipes/recipestest":                {"recipes", "recipes/internal/session", "recipes/internal/sleeper", "zktest"},
	"recipes/slogobserver":               {"recipes"},
	"histories":                          {},
	"histories/states":                   {"histories", "internal/collection"},
	"histories/service":                  {},
	"histories/situations":               {"histories", "histories/service", "histories/states"},
	"internal/seeded":                    {},
	"internal/overlay":                   {},
	"internal/collection":                {},
	"internal/wait":                      {},
	"internal/words":                     {},
	"checker":                            {"checker/internal/judge", "checker/internal/barrier", "checker/internal/client", "checker/internal/facts", "checker/internal/fencing", "checker/internal/holding", "checker/internal/explain", "checker/internal/queue", "checker/internal/saying", "checker/verdict", "histories", "histories/situations", "histories/states", "internal/words", "histories/service"},
	"checker/models":                     {"checker", "checker/internal/judge", "checker/verdict", "histories"},
	"checker/bench":                      {"checker", "checker/verdict", "histories", "internal/words", "internal/collection"},
	"ensemble":                           {"ensemble/child", "ensemble/failpoints", "ensemble/links", "internal/zkconn", "recipes/kerberos", "histories"},
	"ensemble/docker":                    {"ensemble", "ensemble/links", "internal/wait"},
	"ensemble/child":                     {},
	"ensemble/links":                     {"histories"},
	"ensemble/failpoints":                {},
	"ensemble/model":                     {"ensemble/model/service", "ensemble/model/tree", "ensemble/model/wire"},
	"ensemble/model/cluster":             {"ensemble/model", "ensemble/model/service", "ensemble/model/tree", "internal/seeded"},
	"ensemble/model/service":             {"ensemble/model/tree", "ensemble/model/wire"},
	"ensemble/model/tree":                {"ensemble/model/wire"},
	"ensemble/model/wire":                {},
	"ensemble/ensembletest":              {"ensemble", "ensemble/links", "ensemble/simulated"},
	"ensemble/model/live":                {"ensemble/model", "ensemble/model/cluster", "ensemble/model/wire", "internal/seeded"},
	"ensemble/txnlog":                    {"ensemble/model/wire"},
	"ensemble/simulated":                 {"ensemble", "ensemble/links", "ensemble/model", "ensemble/model/cluster", "ensemble/model/live", "ensemble/model/tree", "ensemble/model/wire", "ensemble/txnlog", "internal/wait"},
	"spec":                               {"internal/words"},
	"spec/search":                        {"spec"},
	"zktest":                             {"ensemble/model", "ensemble/model/cluster", "ensemble/model/live", "ensemble/model/service", "ensemble/model/tree", "ensemble/model/wire"},
	"nemesis":                            {"nemesis/fault", "ensemble", "ensemble/links", "histories", "internal/wait", "internal/words"},
	"nemesis/fault":                      {"ensemble", "ensemble/links", "histories", "histories/states", "internal/wait", "internal/words"},
	"nemesis/faults":                     {"nemesis/fault", "ensemble", "ensemble/failpoints", "ensemble/links", "histories", "internal/wait", "internal/words"},
	"workload":                           {"internal/seeded", "workload/lock", "nemesis", "nemesis/fault", "nemesis/faults", "ensemble", "ensemble/links", "histories", "internal/words", "internal/wait", "workload/cycle", "workload/internal/journal", "workload/internal/client", "workload/internal/drive", "workload/internal/inprocess", "workload/internal/servers", "workload/remote", "histories/service"},
	"workload/lock":                      {"ensemble", "histories"},
	"workload/targets":                   {"recipes", "workload/examples/mylock", "workload/lock", "workload/mutants", "histories", "histories/service", "internal/words"},
	"workload/mutants":                   {"histories", "internal/overlay"},
	"workload/selftest":                  {"ensemble/simulated", "internal/seeded", "workload/campaign", "workload", "workload/lock", "workload/targets", "workload/mutants", "report", "checker", "checker/verdict", "nemesis", "nemesis/fault", "nemesis/faults", "ensemble", "ensemble/links", "histories", "internal/words", "workload/cycle", "workload/remote"},
	"workload/simulation":                {"internal/wait", "workload/campaign", "checker", "checker/verdict", "ensemble", "ensemble/links", "ensemble/model", "ensemble/model/cluster", "ensemble/model/live", "ensemble/simulated", "histories", "histories/situations", "histories/states", "internal/seeded", "internal/words", "nemesis", "nemesis/fault", "nemesis/faults", "workload", "workload/cycle", "workload/folder", "workload/targets", "spec", "workload/lock", "ensemble/model/wire", "ensemble/txnlog", "histories/service"},
	"workload/mutants/build":             {"workload/mutants"},
	"workload/mutate":                    {"internal/overlay"},
	"workload/mutate/trial":              {"workload/campaign", "workload/mutate", "workload/simulation", "checker/verdict", "internal/words"},
	"report":                             {"checker", "checker/verdict", "histories", "histories/situations", "histories/states", "internal/words"},
	"cmd/zkverify/internal/field":        {"checker/verdict", "internal/words", "nemesis/faults", "report", "workload/campaign", "workload/folder"},
	"cmd/zkverify/internal/trackrecord":  {"ensemble", "ensemble/links", "ensemble/txnlog", "internal/wait", "internal/words", "workload", "checker/verdict", "nemesis/faults", "workload/campaign", "workload/folder"},
	"cmd/zkverify/internal/transactions": {"internal/words", "ensemble/model/wire", "ensemble/txnlog", "checker", "checker/verdict", "histories", "histories/service", "workload/folder", "workload/lock"},
	"cmd/zkverify/internal/locks":        {"internal/words", "ensemble", "ensemble/child", "ensemble/model/wire", "ensemble/txnlog", "histories", "recipes", "recipes/inspect", "report"},
	"cmd/zkverify":                       {"cmd/zkverify/internal/trackrecord", "cmd/zkverify/internal/transactions", "cmd/zkverify/internal/field", "internal/words", "cmd/zkverify/internal/locks", "internal/overlay", "report", "checker", "checker/models", "checker/verdict", "workload", "workload/lock", "workload/targets", "workload/conformance", "workload/examples", "workload/campaign", "workload/folder", "workload/selftest", "workload/mutate", "workload/mutate/trial", "nemesis", "nemesis/fault", "nemesis/faults", "ensemble", "ensemble/docker", "ensemble/links", "histories", "recipes", "workload/cycle", "workload/remote", "workload/worker", "ensemble/simulated", "workload/simulation", "internal/seeded", "histories/service", "histories/situations", "spec"},

	"workload/cycle":            {},
	"workload/internal/journal": {"nemesis/fault", "histories", "histories/states", "workload/lock"},
	"workload/internal/client":  {"internal/seeded", "workload/internal/journal", "workload/internal/inprocess", "workload/internal/servers", "workload/lock", "workload/remote", "nemesis/fault", "ensemble", "ensemble/links", "histories", "internal/wait"},
	"workload/internal/drive":   {"workload/cycle", "workload/internal/client", "workload/internal/hold", "workload/lock", "histories", "internal/seeded", "internal/wait"},
	"workload/internal/hold":    {"workload/cycle", "workload/internal/journal", "workload/internal/client", "workload/lock", "histories", "internal/wait"},
	"workload/internal/servers": {"workload/internal/journal", "workload/lock", "ensemble", "histories", "internal/wait", "ensemble/txnlog", "histories/service", "ensemble/model/wire"},
	"workload/campaign":         {"internal/seeded", "checker/verdict", "internal/words", "report", "workload/folder"},
	"workload/remote":           {"workload/internal/protocol", "workload/lock", "ensemble/child", "histories"},
	"workload/worker":           {"workload/internal/inprocess", "workload/internal/protocol", "workload/lock", "histories"},
	"recipes/internal/barrier":  {"recipes/internal/session"},
	"recipes/internal/queue":    {"recipes/internal/session"},
	"recipes/internal/session":  {"internal/zkconn"},
	"recipes/internal/sleeper":  {"recipes/internal/session"},

	"workload/internal/protocol": {"ensemble", "histories"},
	"workload/conformance":       {"workload", "workload/lock", "workload/targets", "workload/internal/protocol", "ensemble", "ensemble/child", "histories", "internal/words"},
	"workload/folder":            {"workload", "report", "checker", "histories", "histories/service"},
	"workload/verify":            {"workload", "workload/campaign", "workload/lock", "workload/folder", "checker", "checker/verdict", "nemesis/fault", "nemesis/faults", "ensemble", "ensemble/links", "ensemble/simulated", "internal/words"},
	"workload/examples":          {},
	"workload/examples/mylock":   {"workload/lock", "histories"},
	"workload/examples/myworker": {"workload/examples/mylock", "workload/worker"},

	"checker/verdict":             {"histories", "internal/words"},
	"checker/internal/facts":      {"histories", "histories/service", "internal/collection"},
	"checker/internal/judge":      {"checker/verdict", "checker/internal/facts", "internal/words", "histories", "histories/service"},
	"checker/internal/holding":    {"checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "histories/service", "internal/words", "internal/collection"},
	"checker/internal/queue":      {"checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "internal/words", "internal/collection", "histories/service"},
	"checker/internal/barrier":    {"checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "internal/words", "histories/service", "internal/collection"},
	"checker/internal/fencing":    {"checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "internal/words"},
	"checker/internal/client":     {"histories/service", "checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "internal/words"},
	"checker/internal/saying":     {"checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "internal/words"},
	"checker/internal/drawn":      {"histories"},
	"checker/internal/explain":    {"checker/verdict", "checker/internal/facts", "checker/internal/judge", "histories", "internal/words", "checker/internal/holding", "checker/internal/queue", "checker/internal/barrier"},
	"internal/zkconn":             {},
	"workload/internal/inprocess": {"workload/lock", "ensemble/links", "histories", "internal/wait"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the table", name)
		}
		for _, i := range p.Imports {
			if i, ours := strings.CutPrefix(i, module+"/"); ours && !slices.Contains(may, i) {
				t.Errorf("%s imports %s", name, i)
			}
		}
	}
}

// The dependencies of packages that services import in production must stay few, and so
// must those of packages that judge a history.
func TestRecipesNeedTheZooKeeperClientAlone(t *testing.T) {
	for _, p := range listPackages(t) {
		may, check := map[string][]string{
			module + "/recipes":              {"github.com/go-zookeeper/zk", module + "/recipes/internal", module + "/internal/zkconn"},
			module + "/recipes/inspect":      {"github.com/go-zookeeper/zk", module + "/recipes", module + "/internal/zkconn"},
			module + "/recipes/slogobserver": {"github.com/go-zookeeper/zk", module + "/recipes", module + "/internal/zkconn"},
			module + "/recipes/kerberos":     {"github.com/go-zookeeper/zk", "github.com/jcmturner", "github.com/hashicorp/go-uuid", "golang.org/x/crypto", "golang.org/x/net", module + "/internal/zkconn"},
			module + "/zktest":               {module + "/ensemble/model", module + "/internal/seeded"},
			module + "/histories":            {"github.com/klauspost/compress"},
			module + "/checker":              {"github.com/klauspost/compress", "github.com/anishathalye/porcupine", module},
		}[p.ImportPath]
		if !check {
			continue
		}
		for _, d := range p.Deps {
			host, _, _ := strings.Cut(d, "/")
			if !strings.Contains(host, ".") {
				continue // the standard library
			}
			if !slices.ContainsFunc(may, func(m string) bool { return d == m || strings.HasPrefix(d, m+"/") }) {
				t.Errorf("%s needs %s", p.ImportPath, d)
			}
		}
	}
}

// Judges use models of their own. One package searches them with Porcupine, and another draws them.
func TestPorcupineIsKnownToTheSearchAndThePictureAlone(t *testing.T) {
	var known []string
	for _, p := range listPackages(t) {
		if slices.Contains(p.Imports, "github.com/anishathalye/porcupine") {
			known = append(known, strings.TrimPrefix(p.ImportPath, module+"/"))
		}
	}
	if want := []string{"checker/internal/explain", "checker/internal/judge"}; !slices.Equal(known, want) {
		t.Errorf("%v import Porcupine, want %v", known, want)
	}
}
