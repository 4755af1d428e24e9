// Package judge says what the judge of a guarantee is, and what it judges with: the two
// engines, of which both, or one, are asked, and which must agree.
package judge
