// Package judge defines the judge of a guarantee, and the two engines that it judges with. A
// judge asks both engines, or one; both must agree.
package judge
