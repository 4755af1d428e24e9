// Package ensembletest chooses the servers that the tests of this repository run on.
//
// A test runs on simulated servers unless it calls [Real] with the reason why it needs
// real ones. [Variable] overrides that for a whole run of go test: with "real" every test
// runs on real servers, with "simulated" none does.
//
// The tests of a package share the servers of a [Pool]. Simulated servers start within
// milliseconds, so that a test may have servers of its own and run in parallel with other
// tests ([Pool.Apart]).
//
// Tests of Kerberos have a KDC of their own ([StartKDC]).
package ensembletest
