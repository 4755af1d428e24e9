// Package process carries out one thing in a process of its own, on a Go runtime that may
// be seeded: the program that asks for it describes it as JSON on the process's standard
// input, and reads what came of it from its standard output.
package process
