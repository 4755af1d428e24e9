// Package process carries out a request in a process of its own, on a Go runtime that may be
// seeded: the calling program writes the request as JSON to the process's standard input, and
// reads the answer from its standard output.
package process
