// Package interop holds the tests in which package recipes and Apache Curator
// share paths: a Java program on Curator's recipes takes part in them. What they
// have shown is in docs/interop.md.
//
// The package has no code of its own. Its tests compile the program in folder
// java and are skipped where a JDK or Curator is missing.
package interop
