// Package interop holds the tests in which package recipes and Apache Curator share paths. They
// run a Java program that uses Curator's recipes. docs/interop.md has their results.
//
// The package has no code of its own. Its tests compile the program in folder
// java and are skipped where a JDK or Curator is missing.
package interop
