// Package service defines the record of what the servers of a run did with the nodes of its
// locks and with the sessions of its clients, and reads and writes it.
//
// A history has what clients believed. The servers' logs of transactions have what was so:
// which node was created and deleted by which transaction, and which sessions ended. A run
// whose servers keep their logs where it can read them writes that beside the history, to a
// file of JSON lines that [FileName] names. The first line is a [Header], each further one
// is a [Line]: a node or a session.
//
//	{"service":1,"history":"2026-01-02T03:04:05Z","servers":3,"transactions":81,"clock":1000000}
//	{"session":{"id":"0x1000024b1c80004","closed":{"zxid":81,"at":2950000000},"expired":true}}
//	{"node":{"path":"orders/_c_6a1f-lock-0000000000","session":"0x1000024b1c80004","created":{"zxid":41,"at":1900000},"deleted":{"zxid":81,"at":2950000000}}}
//
// # Joining it with the history
//
// The token of a lease has the transaction that created its node, [Node.Created]. Events name
// sessions as this file does. The first part of a node's path is the key of its lock.
//
// Times are on the history's clock. A leader stamps a transaction when it takes the request,
// to the millisecond, by its wall clock: the transaction has its effect at that time or later.
// [Header.Clock] is how far a time may be off besides.
package service
