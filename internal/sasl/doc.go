// Package sasl authenticates connections to ZooKeeper servers by SASL, before the client of a
// connection sees it.
//
// A server takes SASL tokens in requests of an operation of their own, after the answer to the
// connect request (ZooKeeperServer.processSasl). go-zookeeper knows no such operation. So [Client]
// wraps a connection: it holds the answer to the connect request back, exchanges tokens with
// the server, and hands the answer out when the server has taken the client's. Its
// client sends nothing meanwhile, since it waits for that answer.
//
// A server names no mechanism, and is asked for none: its configuration has one, and the client's
// has to be the same.
package sasl
