// Package service defines, reads and writes the servers' record of a run: the lock nodes that
// they created and deleted, and the sessions of clients that they ended.
//
// A history records the beliefs of clients. The servers' transaction logs record the facts:
// which transaction created or deleted each node, and which sessions ended. If a run can read
// the logs of its servers, it writes these facts beside the history, to a file of JSON lines
// named [FileName]. The first line is a [Header]. Each further line is a [Line]: a node or a
// session. A node is of the kind node, standing or parent.
//
//	{"service":1,"history":"2026-01-02T03:04:05Z","servers":3,"transactions":81,"clock":1000000}
//	{"session":{"id":"0x1000024b1c80004","closed":{"zxid":81,"at":2950000000},"expired":true}}
//	{"node":{"path":"orders/_c_6a1f-lock-0000000000","session":"0x1000024b1c80004","created":{"zxid":41,"at":1900000},"deleted":{"zxid":81,"at":2950000000}}}
//
// # Joining it with the history
//
// The token of a lease holds the transaction that created its node, [Node.Created]. Events name
// sessions as this file does. The first part of a node's path is the key of its lock.
//
// Times are on the history's clock. The leader stamps a transaction when it takes the request,
// to the millisecond, by its wall clock: the transaction takes effect at that time or later.
// In addition, a time may be off by [Header.Clock].
package service
