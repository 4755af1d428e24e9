// Build builds zkverify with changed copies of files. Run it in the root of zkverify's source.
//
//	go run ./workload/mutants/build -mutants -o bin/zkverify-mutants
//	go run ./workload/mutants/build -seeded -o bin/zkverify-sim
//
// With -mutants the recipes have the mutants of package mutants. With -seeded the Go runtime is
// one in which a seed repeats a run exactly (package seeded); its files are made from those of
// the Go in use. Both flags may be given. It is an error if a text to be replaced does not
// occur in its file as before.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/zkverify/zkverify/workload/mutants"
)

func main() {
	out := flag.String("o", "", "the program's `file`; the copies are beside it, in a folder")
	seeded := flag.Bool("seeded", false, "change the Go runtime")
	withMutants := flag.Bool("mutants", false, "change the recipes")
	version := flag.String("version", "", "what the program says its `version` is")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 || !*withMutants && !*seeded {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := build(ctx, *out, *seeded, *withMutants, *version); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, out string, seeded, withMutants bool, version string) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	p, err := mutants.Program(root)
	if !withMutants { // the texts that mutants replace do not matter
		p.Files, err = nil, nil
	}
	if err != nil {
		return err
	}
	if version != "" {
		p.Flags = append(p.Flags, "-ldflags", "-X main.version="+version)
	}
	p.Seeded, p.Out = seeded, out
	// Go ignores a folder whose name starts with "_" when it looks for packages.
	return p.Build(ctx, filepath.Join(filepath.Dir(out), "_"+filepath.Base(out)))
}
