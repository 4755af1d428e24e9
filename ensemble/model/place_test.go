package model_test

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// place returns a copy of a request's body whose paths lie under root.
func place(op wire.Op, body wire.Record, root string) (wire.Record, error) {
	if body == nil {
		return nil, nil
	}
	placed := wire.NewRequest(op)
	if placed == nil {
		return nil, fmt.Errorf("a body for %s, which has none", opName(op))
	}
	if m, ok := body.(*wire.MultiRequest); ok {
		return placeParts(m, root)
	}
	if _, err := wire.Decode(wire.Encode(body), placed); err != nil {
		return nil, err
	}
	for _, path := range paths(placed) {
		if *path == "~" || strings.HasPrefix(*path, "~/") {
			*path = root + (*path)[1:]
		}
	}
	return placed, nil
}

func placeParts(m *wire.MultiRequest, root string) (wire.Record, error) {
	placed := &wire.MultiRequest{}
	for _, part := range m.Parts {
		body, err := place(part.Op, part.Body, root)
		if err != nil {
			return nil, err
		}
		placed.Parts = append(placed.Parts, wire.Part{Op: part.Op, Body: body})
	}
	return placed, nil
}

// paths returns pointers to the paths of a request.
func paths(body wire.Record) (all []*string) {
	addAll := func(lists ...[]string) {
		for _, list := range lists {
			for i := range list {
				all = append(all, &list[i])
			}
		}
	}
	switch r := body.(type) {
	case *wire.CreateRequest:
		return []*string{&r.Path}
	case *wire.CreateTTLRequest:
		return []*string{&r.Path}
	case *wire.PathVersion:
		return []*string{&r.Path}
	case *wire.PathWatch:
		return []*string{&r.Path}
	case *wire.Path:
		return []*string{&r.Path}
	case *wire.SetDataRequest:
		return []*string{&r.Path}
	case *wire.SetACLRequest:
		return []*string{&r.Path}
	case *wire.PathWatcherType:
		return []*string{&r.Path}
	case *wire.AddWatchRequest:
		return []*string{&r.Path}
	case *wire.SetWatchesRequest:
		addAll(r.Data, r.Exist, r.Child)
	case *wire.SetWatches2Request:
		addAll(r.Data, r.Exist, r.Child, r.Persistent, r.PersistentRecursive)
	}
	return all
}
