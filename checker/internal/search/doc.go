// Package search searches the history of one lock for an order that a model allows, with
// Porcupine, under caps of time and memory.
//
// A history is cut into segments that can be searched one by one. Where it may be cut,
// and why, is a matter of the model: that stands beside each. Here stands what they
// share: a segment is searched when it is complete, and the last one goes on into the
// next window of the history.
package search
