// Package models judges histories of other tools by the sequential models of Knossos and of
// Jepsen's tests: mutexes with and without owners, re-entry and fences, semaphores, registers. A
// history is linearizable if its operations can be put into an order, each at an instant between
// its call and its return, that the model of each lock or register allows. An operation with an
// unknown outcome may have taken effect at any time after its call, or not at all; one that
// failed has had no effect.
//
// Two engines judge. The sweep goes through the operations of a lock or register in the order of
// their calls and returns, and keeps each state that the model may be in; it is exact, and its
// memory goes with what is open at a time. Porcupine searches the histories of locks and
// registers that are short enough, and must agree.
package models
