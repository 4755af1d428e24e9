// Package barrier judges barriers: no process passes one that is up, and the members of a
// double barrier enter together and leave together.
package barrier
