// Package barrier judges barriers: that nobody passes one that is up, and that the
// members of a double barrier come in together and go out together.
package barrier
