package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/docker"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/selftest"
	"github.com/zkverify/zkverify/workload/targets"
)

// listCmd lists names.
type listCmd struct {
	What string `arg:"" optional:"" help:"One of recipes, targets, faults, situations, guarantees, models, mutants, provocations; default these names."`
}

// lists are the things that can be listed.
var lists = []string{"recipes", "targets", "faults", "situations", "guarantees", "models", "mutants", "provocations"}

func (listCmd) Help() string {
	return words.WithExamples("",
		"zkverify list faults")
}

// ensembles holds a value of each kind of ensemble, to find out which faults it supports.
var ensembles = map[string]ensemble.Ensemble{
	"local": (*ensemble.Local)(nil), "docker": (*docker.Ensemble)(nil), "external": (*ensemble.Ext)(nil), "simulated": (*simulated.Ensemble)(nil),
}

// offeredBy names the ensembles that meet the need of a fault.
func offeredBy(need fault.Need) string {
	if need == fault.NeedsWorkers {
		return "with --workers, in zkverify-sim"
	}
	if need == fault.NeedsUpgrade {
		return "local, with --upgrade-to"
	}
	if need == fault.NeedsReconfig {
		return "local, with --reconfig"
	}
	if need == fault.NeedsClocks {
		return "zkverify sim, local with Byteman"
	}
	if need == fault.NeedsWallClocks {
		return "zkverify sim"
	}
	if need == fault.NeedsFailpoints {
		return "local, with Byteman"
	}
	var kinds []string
	for _, kind := range []string{"local", "docker", "external", "simulated"} {
		if need.MetBy(ensembles[kind]) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == len(ensembles) {
		return "any ensemble"
	}
	return strings.Join(kinds, ", ")
}

func (l *listCmd) Run(_ context.Context, con *console) error {
	w := tabwriter.NewWriter(con.out, 0, 0, 3, ' ', 0)
	switch l.What {
	case "":
		for _, name := range lists {
			fmt.Fprintf(w, "%s\tzkverify list %s\n", name, name)
		}
	case "recipes":
		for _, r := range workload.Recipes() {
			fmt.Fprintf(w, "%s\t%s\n", r.Recipe, r.Description)
		}
	case "targets":
		for _, t := range targets.All() {
			offers := lock.RecipesOf(t)
			recipes := string(offers[0])
			if len(offers) > 1 {
				recipes = words.Count(len(offers), "recipe")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name(), recipes, t.Description())
		}
	case "mutants":
		for _, m := range targets.Mutants() {
			fmt.Fprintf(w, "%s\t%s\tcaught by %s\t%s\n", m.Name(), m.Recipe(), m.Guarantee, m.Description())
		}
	case "provocations":
		for _, p := range selftest.Provocations() {
			fmt.Fprintf(w, "%s\t%s\t%s\tshows %s\n", p.Name, p.Recipe(), p.What, strings.Join(p.Mutants, ", "))
		}
	case "faults":
		for _, k := range faults.List() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", k.Name, offeredBy(k.Needs), k.Description)
		}
	case "situations":
		for _, s := range situations.All() {
			in := "simulated servers"
			if s.Traced {
				in = "zkverify sim"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, in, s.Says)
		}
	case "guarantees":
		for _, g := range checker.Guarantees() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", g.Name, g.Summary, g.Model)
		}
	case "models":
		for _, m := range histories.Models() {
			fmt.Fprintf(w, "%s\t%s\n", m.Name, m.Summary)
		}
	default:
		return usageError{words.Unknown("list", l.What, lists, words.Known(lists))}
	}
	return w.Flush()
}
