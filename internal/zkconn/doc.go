// Package zkconn does for connections to ZooKeeper servers what go-zookeeper does not.
//
// # Answers
//
// go-zookeeper allocates as many names, access rules and bytes as an answer claims to have,
// and reads a flag without checking whether a byte is left: an answer of forty bytes can
// end the process, by a lack of memory or by a panic, and neither can be recovered from.
// [CheckAnswer] and [CheckEvent] check what a server sends before go-zookeeper decodes it.
//
// # SASL
//
// A server takes SASL tokens in requests with an operation of their own, after the answer
// to the connect request (ZooKeeperServer.processSasl). go-zookeeper does not have that
// operation. So [WithSASL] wraps a connection: it holds back the answer to the connect
// request, exchanges tokens with the server, and hands the answer out when the server has
// accepted the client's tokens. The client sends nothing meanwhile, since it waits for that
// answer.
//
// The protocol does not negotiate the mechanism. The server's configuration has one, and
// the client's must have the same.
package zkconn
