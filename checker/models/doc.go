// Package models judges histories of other tools by the sequential models of Knossos and of
// Jepsen's tests: mutexes with and without owners, re-entry and fences, semaphores, registers.
// A history is linearizable if its operations can be put into an order that the model of each
// lock or register allows, each at an instant between its call and its return. An operation
// with an unknown outcome may have taken effect at any time after its call, or not at all; one
// that failed has had no effect.
//
// Two engines judge. The sweep visits the calls and returns of a lock's or register's
// operations in order, and keeps each state that the model may be in. It is exact, and its
// memory grows with the number of operations that are open at one time. Porcupine searches the
// histories of locks and registers that are short enough, and must agree.
package models
