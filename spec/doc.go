// Command spec searches every state that the models of this folder can reach, with the
// model checker spin, and prints one table of the results. A search whose result is not the
// one that its model declares, or that is not complete, is a failure.
//
// docs/spec.md tells how to read and change a model, and how a model declares its searches.
package main
