package barrier

import (
	"bytes"
	"slices"
)

// readyName is the name of the ready node. A double barrier's directory has the layout of
// Curator's: an ephemeral node for each member, named by a UUID, and the persistent node
// "ready" once enough members have arrived.
//
// # Rounds
//
// One directory serves one round after the other. The czxid R of its ready node identifies
// a round. Its members are
//
//   - the members with a node older than R, which existed when the round began;
//   - the members that came later and are listed in the ready node's data, one name per
//     line.
//
// So a ready node that was left behind (by members that crashed, or by Curator) lets no
// member in: its round has no members left, and no member can join, because joining takes a
// member as a witness, in the same transaction. Curator's own members check only that the
// node exists, and list no names.
//
// Each change of a round is one transaction, so that no member acts on a list that is out
// of date:
//
//   - begin: check n members' nodes, create ready;
//   - join: check one member's node, write the list with the version that was read;
//   - end: the last member deletes its own node and ready, with the version that was
//     read, so that it is the last;
//   - clear, after a crash: write the directory, delete ready, each with the version that
//     was read before its round was found empty. A ready node that was deleted and created
//     again has the same version; the directory does not.
const readyName = "ready"

// node is the state of a node when it was read.
type node struct {
	id      int64 // czxid
	version int32
	data    []byte
}

// lists reports whether a ready node lists name as a member that came after the round had
// begun.
func (n *node) lists(name string) bool {
	return slices.ContainsFunc(bytes.Split(n.data, []byte{'\n'}), func(line []byte) bool { return string(line) == name })
}

// roll returns the members among the children, and whether there is a ready node. Children
// that are neither UUIDs nor ready are foreign: they must not count as members, as they do
// for Curator.
func roll(children []string) (members []string, ready bool) {
	for _, child := range children {
		switch {
		case child == readyName:
			ready = true
		case isUUID(child):
			members = append(members, child)
		}
	}
	slices.Sort(members)
	return members, ready
}

func isUUID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}
