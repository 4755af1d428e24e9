package tree

// Release is the version of ZooKeeper whose behavior a tree has where versions differ.
type Release int

// The releases.
const (
	// V38 is 3.8, with the fix of CVE-2024-23944: 3.8.4, and Debian's 3.8.0. Exists
	// needs no permission, and the kind of a create in a multi comes from its flags
	// alone, so that a Create2 is a Create.
	V38 Release = iota
	// V39 is 3.9.6. Exists needs the permission to read, a Create2 in a multi is one, and a multi
	// with a create of unknown flags, or without an ACL, is malformed. A client that moves
	// between servers is notified of a change that it missed only if it may read the node.
	V39
)
