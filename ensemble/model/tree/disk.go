package tree

import (
	"slices"
)

// snapshotEvery is the number of transactions after which a server takes a snapshot. Real
// servers take one after 50,000 to 100,000.
const snapshotEvery = 20_000

// Disk models the disk of a ZooKeeper server: its epochs, a snapshot, and the log of
// transactions since then. A transaction that was logged and not synced yet may be lost in a
// crash. Its zero value is the disk of a server that never ran.
type Disk struct {
	AcceptedEpoch int64 // the newest that the server has promised to follow
	CurrentEpoch  int64 // the newest whose leader it has synced with

	snapshot *Tree // never changed; nil for an empty tree
	log      []Txn // since the snapshot
	synced   int   // length of the part of log that survives a crash
}

// Copy returns a copy of the disk.
func (d *Disk) Copy() *Disk {
	c := *d
	c.log = slices.Clone(d.log)
	return &c
}

// Append logs a transaction. It survives a crash once Sync has been called.
func (d *Disk) Append(x Txn) { d.log = append(d.log, x) }

// Sync makes all transactions up to zxid survive a crash.
func (d *Disk) Sync(zxid int64) {
	for d.synced < len(d.log) && d.log[d.synced].Zxid <= zxid {
		d.synced++
	}
}

// Crash loses the transactions that were not synced, except the first kept of them.
func (d *Disk) Crash(kept int) {
	d.synced = min(len(d.log), d.synced+kept)
	d.log = d.log[:d.synced:d.synced]
}

// LastZxid returns the last logged transaction, or that of the snapshot.
func (d *Disk) LastZxid() int64 {
	if n := len(d.log); n > 0 {
		return d.log[n-1].Zxid
	}
	return d.base()
}

// SnapshotZxid returns the snapshot's last transaction, 0 if there is no snapshot.
func (d *Disk) SnapshotZxid() int64 { return d.base() }

// base returns the snapshot's last transaction.
func (d *Disk) base() int64 {
	if d.snapshot == nil {
		return 0
	}
	return d.snapshot.LastZxid()
}

// Load returns the tree with all logged transactions, as a server of a release keeps it.
func (d *Disk) Load(r Release) *Tree {
	t := NewRelease(r)
	if d.snapshot != nil {
		t = d.snapshot.Clone()
	}
	for i := range d.log {
		t.Apply(&d.log[i])
	}
	return t
}

// Replace replaces all data by another server's tree.
func (d *Disk) Replace(t *Tree) {
	d.snapshot, d.log, d.synced = t.Clone(), nil, 0
}

// Truncate removes the transactions after zxid from the log. It returns false if the
// snapshot has later ones already.
func (d *Disk) Truncate(zxid int64) bool {
	if zxid < d.base() {
		return false
	}
	n := len(d.log)
	for n > 0 && d.log[n-1].Zxid > zxid {
		n--
	}
	d.log = d.log[:n:n]
	d.synced = min(d.synced, n)
	return true
}

// Since returns the logged transactions after zxid. It reports whether the log reaches
// back that far.
func (d *Disk) Since(zxid int64) ([]Txn, bool) {
	if zxid < d.base() {
		return nil, false
	}
	n := len(d.log)
	for n > 0 && d.log[n-1].Zxid > zxid {
		n--
	}
	return d.log[n:], true
}

// Has reports whether the transaction is logged, or is the snapshot's last.
func (d *Disk) Has(zxid int64) bool {
	if zxid == d.base() {
		return true
	}
	for n := len(d.log) - 1; n >= 0 && d.log[n].Zxid >= zxid; n-- {
		if d.log[n].Zxid == zxid {
			return true
		}
	}
	return false
}

// Compact takes a snapshot if the log has become long. t is the tree with all
// transactions up to its last one applied.
func (d *Disk) Compact(t *Tree) {
	if d.synced < snapshotEvery {
		return
	}
	last := t.LastZxid()
	n := 0
	for n < d.synced && d.log[n].Zxid <= last {
		n++
	}
	d.snapshot = t.Clone()
	d.log = append([]Txn(nil), d.log[n:]...)
	d.synced -= n
}
