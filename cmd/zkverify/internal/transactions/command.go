// Package transactions implements zkverify txnlog, which prints and compares the transactions on
// the disks of ZooKeeper servers.
package transactions

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/internal/words"
)

// Command is zkverify txnlog.
type Command struct {
	Dirs    []string `arg:"" name:"dir" help:"A server's dataDir or dataLogDir, its version-2, or one log file; or the folder of a run."`
	Lock    string   `placeholder:"NAME" help:"Of a run: this lock alone; default all, one after the other."`
	Path    string   `placeholder:"PATH" help:"Only transactions that change this node, or one below it; default all."`
	Session string   `placeholder:"ID" help:"Only transactions, or nodes, of this session, such as 0x1000024b1c80004; default of all."`
	JSON    bool     `name:"json" help:"Print a line of JSON for each transaction."`
	Compare bool     `help:"Compare the logs of servers, whose folders these are, and say where they first contradict each other."`
}

// Help is called by kong.
func (Command) Help() string {
	return words.WithExamples("Reads the files of a server, which may run meanwhile, and changes nothing. A log that ends within a transaction is printed up to there. Of the folder of a run on local servers it prints the nodes of each lock in the order of the servers, beside what the clients believed. The exit status is 1 if --compare finds a contradiction, 64 for what is no log or is damaged.",
		"zkverify txnlog --path /locks/orders /var/lib/zookeeper",
		"zkverify txnlog --compare zk1/data zk2/data zk3/data",
		"zkverify txnlog --lock lock-0 runs/20260102-150405-recipes")
}

// ErrDiffer is returned by a comparison that has found a contradiction, and printed it.
var ErrDiffer = errors.New("")

// Refused is an error in the command line or in the files.
type Refused struct{ error }

// Unwrap returns the error.
func (r Refused) Unwrap() error { return r.error }

// Run prints the transactions, or compares them. It returns ErrDiffer, a Refused, the error of
// ctx, or one of out.
func (c *Command) Run(ctx context.Context, out io.Writer) error {
	if c.Compare {
		return c.compare(out)
	}
	if len(c.Dirs) > 1 {
		return Refused{errors.New("several folders are several servers: print one at a time, or --compare them")}
	}
	if isRun(c.Dirs[0]) {
		return c.lives(out)
	}
	if c.Lock != "" {
		return Refused{fmt.Errorf("--lock is for the folder of a run, and %s has no %s: use --path", c.Dirs[0], service.FileName)}
	}
	all, err := transactionsAt(c.Dirs[0])
	if err != nil {
		return Refused{err}
	}
	is, err := c.filter()
	if err != nil {
		return Refused{err}
	}
	w := bufio.NewWriter(out)
	for t, err := range all {
		switch {
		case err != nil:
			return errors.Join(w.Flush(), Refused{err})
		case ctx.Err() != nil:
			return errors.Join(w.Flush(), context.Cause(ctx))
		case !is(t):
			continue
		}
		if err := c.print(w, t); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (c *Command) print(w io.Writer, t txnlog.Txn) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(recordOf(t))
	}
	_, err := fmt.Fprintln(w, line(t))
	return err
}

// transactionsAt returns the transactions in a folder, or in one file.
func transactionsAt(path string) (iter.Seq2[txnlog.Txn, error], error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return txnlog.ReadLog(path), nil
	}
	dir, err := txnlog.Open(path)
	if err != nil {
		return nil, err
	}
	if len(dir.Logs) == 0 {
		return nil, fmt.Errorf("%s has snapshots and no log: is there a dataLogDir? (%w)", path, fs.ErrNotExist)
	}
	return dir.Transactions(), nil
}

// filter returns a function that selects the transactions which the flags ask for.
func (c *Command) filter() (func(txnlog.Txn) bool, error) {
	session, err := c.session()
	if err != nil {
		return nil, err
	}
	if c.Path != "" && !strings.HasPrefix(c.Path, "/") {
		return nil, fmt.Errorf("--path %q is no path of ZooKeeper: it begins with /", c.Path)
	}
	below := strings.TrimSuffix(c.Path, "/") + "/"
	return func(t txnlog.Txn) bool {
		if c.Session != "" && t.Session != session {
			return false
		}
		if c.Path == "" {
			return true
		}
		for _, change := range t.Changes {
			if change.Path == c.Path || strings.HasPrefix(change.Path, below) {
				return true
			}
		}
		return false
	}, nil
}

// session returns the session that --session names, 0 if it is not set.
func (c *Command) session() (int64, error) {
	if c.Session == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(c.Session, "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("--session %q is no session: want it as ZooKeeper prints it, such as 0x1000024b1c80004", c.Session)
	}
	return int64(id), nil
}

func (c *Command) compare(out io.Writer) error {
	switch {
	case len(c.Dirs) < 2:
		return Refused{errors.New("--compare wants the folders of several servers")}
	case c.Path != "" || c.Session != "" || c.Lock != "" || c.JSON:
		return Refused{errors.New("--compare looks at whole logs: --path, --lock, --session and --json do not go with it")}
	}
	servers := make(map[int]txnlog.Dir)
	for i, path := range c.Dirs {
		dir, err := txnlog.Open(path)
		if err != nil {
			return Refused{err}
		}
		servers[i+1] = dir
	}
	d, err := txnlog.Compare(servers)
	switch {
	case err != nil:
		return Refused{err}
	case d != nil:
		words.Fprintf(out, "%s\nThe servers are numbered as the folders are named: server %d is %s.\n", d, d.Server, c.Dirs[d.Server-1])
		return ErrDiffer
	}
	fmt.Fprintf(out, "the logs of %d servers do not contradict each other\n", len(servers))
	return nil
}
