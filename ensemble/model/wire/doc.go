// Package wire encodes and decodes the messages between a ZooKeeper client and a server:
// records in jute, ZooKeeper's encoding, and the frames that carry them. It has both
// directions of each record, so that a server and a client of it can be written.
//
// A record lists its fields once, in the method Fields; a [Codec] that encodes or decodes
// visits them. Decoding checks lengths alone; an error of [Decode] means that the bytes
// are no such record.
//
// Source: zookeeper.jute of ZooKeeper 3.8 and 3.9.
package wire
