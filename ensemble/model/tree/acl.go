package tree

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

var anyone = wire.ID{Scheme: "world", ID: "anyone"}

// Permits reports whether an ACL gives the identities at least one of the permissions. An
// empty ACL permits everything, and so does the identity super.
func Permits(acl []wire.ACL, perms int32, ids []wire.ID) bool {
	if len(acl) == 0 || slices.ContainsFunc(ids, func(id wire.ID) bool { return id.Scheme == "super" }) {
		return true
	}
	return slices.ContainsFunc(acl, func(a wire.ACL) bool {
		return a.Perms&perms != 0 && (a.ID == anyone ||
			slices.ContainsFunc(ids, func(id wire.ID) bool { return matches(a.ID, id) }))
	})
}

// matches reports whether an identity is the one that an ACL names.
func matches(named, id wire.ID) bool {
	if named.Scheme != id.Scheme {
		return false
	}
	switch named.Scheme {
	case "ip":
		return matchesIP(named.ID, id.ID)
	case "digest", "sasl":
		return named.ID == id.ID
	}
	return false // a scheme that the server does not know
}

// settleACL returns the ACL of a node whose creator asks for the given one: without
// repetitions, and with the client's own identities in place of "auth".
func settleACL(asked []wire.ACL, ids []wire.ID) ([]wire.ACL, wire.Code) {
	var settled []wire.ACL
	for i, a := range asked {
		if slices.Contains(asked[:i], a) {
			continue
		}
		switch {
		case a.ID == anyone, validID(a.ID), a.ID.Scheme == "sasl" && a.ID.ID != "" && slices.ContainsFunc(ids, isSASL):
			// A server that has authenticated the client by SASL knows that scheme.
			settled = append(settled, a)
		case a.ID.Scheme == "auth":
			n := len(settled)
			for _, id := range ids {
				// An address proves nothing, and super has no provider to ask.
				if id.Scheme == "digest" || isSASL(id) {
					settled = append(settled, wire.ACL{Perms: a.Perms, ID: id})
				}
			}
			if len(settled) == n {
				return nil, wire.InvalidACL
			}
		default:
			return nil, wire.InvalidACL
		}
	}
	if len(settled) == 0 {
		return nil, wire.InvalidACL
	}
	return settled, wire.OK
}

func isSASL(id wire.ID) bool { return id.Scheme == "sasl" }

// validID reports whether an ACL may name an identity.
func validID(id wire.ID) bool {
	switch id.Scheme {
	case "ip":
		_, _, ok := parseCIDR(id.ID)
		return ok
	case "digest":
		// One colon with text behind it. Java's split drops empty parts at the end.
		_, hash, colon := strings.Cut(strings.TrimRight(id.ID, ":"), ":")
		return colon && !strings.Contains(hash, ":")
	}
	return false
}

// masked returns an ACL with the hashes of passwords left out.
func masked(acl []wire.ACL) []wire.ACL {
	m := slices.Clone(acl)
	for i, a := range m {
		if user, _, colon := strings.Cut(a.ID.ID, ":"); a.ID.Scheme == "digest" && colon {
			m[i].ID.ID = user + ":x"
		}
	}
	return m
}
