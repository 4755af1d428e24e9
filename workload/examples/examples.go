// Package examples has the files of the example workers, of which zkverify worker new makes
// projects.
package examples

import "embed"

// Files holds the examples that projects are made of, by their paths in this folder.
//
//go:embed my_worker.py kazoo_lock.py zkverify_kazoo.py zkverify_worker.py
//go:embed java zookeeper
//go:embed mylock/mylock.go mylock/mylock_test.go myworker/main.go
var Files embed.FS
