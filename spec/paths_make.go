package spec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// pathModels are the models that have paths: those that include servers.inc, whose state paths.inc reads.
var pathModels = []string{"mutex", "create"}

// noted is servers.inc with the notes of paths.inc: what is replaced, by what.
var noted = [][2]string{
	{"byte done, breaks", `c_code { \#include "paths.inc" }` + "\nbyte zkOp[N], zkWho, zkAsked = ASKED, zkGone = LOST; short zkFirst;\nbyte done, breaks"},
	{"breaks++;", "c_code { zk_note(zk_break, zk_met(Psession->c)); }; breaks++;"},
	{"counted(silences);", "c_code { zk_note(zk_silence, zk_met(Psession->c)); }; counted(silences);"},
	{"onExpiry();", "c_code { zk_note(zk_expire, zk_met(Psession->c)); }; onExpiry();"},
	{"inline cancel() {", "inline cancel() { c_code { zk_note(zk_cancel, Pcontender->c); };"},
	{"crashes++;", "c_code { zk_note(zk_crash, zk_met(Psession->c)); }; crashes++;"},
	{"deposed++;", "c_code { zk_note(zk_deposed, zk_met(Psession->c)); }; deposed++;"},
	{"removed = removed | b;", "c_code { zk_admin(Poutsider->b); }; removed = removed | b;"},
	{"carryOut(request[c], about[c], false);", "c_code { zk_others(Pleader->c); }; carryOut(request[c], about[c], false);"},
	{"inline ask(op, nodes) {", "inline ask(op, nodes) { zkOp[c] = (op == CREATE -> 1 : (op == DELETE -> 5 : (op == WRITE -> 7 : 3)));"},
}

// noting returns what models share, with the notes.
func noting() (map[string]string, error) {
	shared := includes()
	for _, n := range noted {
		if !strings.Contains(shared["servers.inc"], n[0]) {
			return nil, fmt.Errorf("servers.inc has no %q, where the paths need a note", n[0])
		}
		shared["servers.inc"] = strings.ReplaceAll(shared["servers.inc"], n[0], n[1])
	}
	return shared, nil
}

// pathsMark begins the line of the file that says of which models it is.
const pathsMark = "# go run ./spec/search -paths spec/paths.txt: the paths of models whose hash is "

// pathsHash returns the hash of all that the paths depend on.
func pathsHash() string {
	h := sha256.New()
	shared := includes()
	for _, name := range pathModels {
		text, _ := files.ReadFile(name + ".pml") // it is embedded
		h.Write(text)
	}
	for _, name := range []string{"servers.inc", "record.inc", "paths.inc"} {
		h.Write([]byte(shared[name]))
	}
	fmt.Fprint(h, noted)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// makePaths searches for the paths, several searches at a time, and returns the text of the file: the
// counter-example of each mistake, and each fault, and two faults, at each step that they meet in a
// search that holds.
func makePaths(ctx context.Context, all []*model, jobs int) (string, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	var paths []Path
	free := make(chan struct{}, jobs)
	for _, m := range all {
		for _, s := range m.searches {
			if !slices.Contains(pathModels, m.name) || s.want != holds && len(s.mistakes()) == 0 {
				continue
			}
			wg.Go(func() {
				free <- struct{}{}
				found, err := s.paths(ctx, m.text)
				mu.Lock()
				defer mu.Unlock()
				paths, errs = append(paths, found...), append(errs, err)
				<-free
			})
		}
	}
	wg.Wait()
	return pathsMark + pathsHash() + "\n" + formatPaths(merged(paths)), errors.Join(errs...)
}

// paths returns the paths of a search: that of its counter-example, or those of its faults.
func (s search) paths(ctx context.Context, text string) (paths []Path, err error) {
	dir, err := os.MkdirTemp("", "zkverify-paths-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	shared, err := noting()
	if err != nil {
		return nil, err
	}
	s.limit *= 4 // the first fault is part of a state
	p := Path{Contenders: 2, Shared: slices.Contains(s.switches, "-DSHARED")}
	for _, d := range s.switches {
		_, _ = fmt.Sscanf(d, "-DN=%d", &p.Contenders) // the others are no numbers of contenders
	}
	flags := append(s.compileFlags(), fmt.Sprintf("-DNCONT=%d", p.Contenders))
	if p.Shared {
		flags = append(flags, "-DSHARED")
	}
	if err := s.build(ctx, dir, text, shared, flags...); err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	out, err := s.pan(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	if f, err := readPan(s, out); err != nil || f.result != s.want {
		return nil, fmt.Errorf("%v: with notes it is %s, %w", s, f.result, err)
	}
	if s.want == holds {
		return p.faults(out), nil
	}
	out, err = output(ctx, filepath.Clean(dir), "./pan", "-r")
	if err != nil && !strings.Contains(err.Error(), "exit status") { // the state at the end is an error
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	for _, name := range s.mistakes() {
		p.Mistakes = append(p.Mistakes, s.model+"/"+strings.Trim(name, "`"))
	}
	p.Faults = counterExample(out)
	return []Path{p}, nil
}

// faults reads the notes of a search that holds.
func (p Path) faults(out string) (paths []Path) {
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		switch {
		case len(w) == 5 && w[0] == "one":
			p.Faults = []PathFault{parseFault(strings.Join(w[1:], " "))}
		case len(w) == 10 && w[0] == "two":
			p.Faults = []PathFault{parseFault(strings.Join(w[1:5], " ")), parseFault(strings.Join(w[5:], " "))}
		default:
			continue
		}
		paths = append(paths, p)
	}
	return paths
}

// counterExample reads the notes of a replay: its faults, or, of a run without any, the last two times
// that a contender was overtaken.
func counterExample(out string) []PathFault {
	type at struct {
		PathFault
		who string
	}
	var faults, overtaken []at
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) != 6 || w[0] != "note" {
			continue
		}
		f := at{parseFault(strings.Join(w[2:], " ")), w[1]}
		if f.Fault == "overtake" {
			overtaken = append(slices.DeleteFunc(overtaken, func(o at) bool { return o.who == f.who && o.Step == f.Step }), f)
			continue
		}
		if n := len(faults); f.Fault == "expire" && n > 0 && faults[n-1].Fault == "silence" && faults[n-1].who == f.who {
			faults[n-1].Fault = f.Fault // the silence lasts
			continue
		}
		faults = append(faults, f)
	}
	if len(faults) == 0 {
		faults = overtaken[max(len(overtaken)-2, 0):]
	}
	var all []PathFault
	for i, f := range faults {
		f.Other = i > 0 && f.who != faults[i-1].who
		all = append(all, f.PathFault)
	}
	return all
}

// merged returns each path once, in the smallest world that has it, with the mistakes of all. Of two
// faults that meet the same steps the numbers of nodes are left out: the first numbers stand for all.
func merged(paths []Path) (all []Path) {
	slices.SortStableFunc(paths, func(a, b Path) int { return strings.Compare(a.String(), b.String()) })
	at := map[string]int{}
	for _, p := range paths {
		_, key, _ := strings.Cut(p.String(), ": ")
		switch {
		case len(p.Mistakes) > 0:
			key = "mistake " + p.String()
		case len(p.Faults) == 2:
			a, b := p.Faults[0], p.Faults[1]
			key = strings.Join([]string{a.Fault, a.Step, b.Fault, b.Step, fmt.Sprint(b.Other)}, " ")
		}
		i, known := at[key]
		if !known {
			at[key] = len(all)
			all = append(all, p)
			continue
		}
		for _, m := range p.Mistakes {
			if !slices.Contains(all[i].Mistakes, m) {
				all[i].Mistakes = append(all[i].Mistakes, m)
				slices.Sort(all[i].Mistakes)
			}
		}
	}
	return all
}
