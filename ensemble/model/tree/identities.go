package tree

import (
	"slices"
	"unicode/utf16"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// WithIdentity returns the identities of a connection with one more, in the order in
// which a server lists them: it keeps them in a hash table
// (java.util.concurrent.ConcurrentHashMap), and goes through its buckets. It does not
// change ids.
func WithIdentity(ids []wire.ID, id wire.ID) []wire.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	all := append(slices.Clone(ids), id)
	buckets := uint32(16)
	for uint32(len(all)) >= buckets/4*3 { // the table has grown
		buckets *= 2
	}
	slices.SortStableFunc(all, func(a, b wire.ID) int { return int(bucket(a, buckets)) - int(bucket(b, buckets)) })
	return all
}

// bucket returns the index of an identity in a table with so many buckets, a power of
// two.
func bucket(id wire.ID, buckets uint32) uint32 {
	h := uint32(17) // the hash that jute computes for a record
	h = 37*h + stringHash(id.Scheme)
	h = 37*h + stringHash(id.ID)
	return (h ^ h>>16) & (buckets - 1)
}

// stringHash returns Java's String.hashCode.
func stringHash(s string) (h uint32) {
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return h
}
