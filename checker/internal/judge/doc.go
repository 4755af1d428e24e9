// Package judge defines the judge of a guarantee, and the two engines that it judges with. A
// judge asks both engines, or one; both must agree.
//
// The second engine searches the history of one lock for an order that a model allows, with
// Porcupine, under caps of time and memory. A history is cut into segments that can be searched
// one by one. Each model defines where a history may be cut, and explains it there. This package
// holds what the models share: a segment is searched when it is complete, and the last segment
// continues in the next window of the history.
//
// The package also composes the witnesses of violations: the parties of operations and holds, the
// faults around the violation, and the ends of the parties' sessions that explain it.
package judge
