// Package sasl authenticates connections to ZooKeeper servers by SASL, before the client of
// a connection uses it.
//
// A server takes SASL tokens in requests with an operation of their own, after the answer
// to the connect request (ZooKeeperServer.processSasl). go-zookeeper does not have that
// operation. So [Client] wraps a connection: it holds back the answer to the connect
// request, exchanges tokens with the server, and hands the answer out when the server has
// accepted the client's tokens. The client sends nothing meanwhile, since it waits for that
// answer.
//
// The protocol does not negotiate the mechanism. The server's configuration has one, and
// the client's must have the same.
package sasl
