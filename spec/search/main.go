// Command search searches every state that the models of package spec can reach, and prints one
// table of the results: see package spec.
package main

import (
	"os"

	"github.com/zkverify/zkverify/spec"
)

func main() { os.Exit(spec.Main(os.Args[1:])) }
