package model_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// printer writes records as text.
type printer struct {
	root string                 // written as "~"
	stat func(wire.Stat) string // nil for all fields
}

var plain = printer{}

func (p printer) path(path string) string {
	if rest, ok := strings.CutPrefix(path, p.root); ok && p.root != "" {
		return "~" + rest // a sequential node beside the root begins with its path
	}
	return path
}

func (p printer) text(r wire.Record) string {
	if r == nil {
		return ""
	}
	return p.value(reflect.ValueOf(r))
}

func (p printer) value(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return ""
		}
		return p.value(v.Elem())
	case reflect.Struct:
		return p.record(v)
	case reflect.Slice:
		if v.IsNil() {
			return "null"
		}
		if data, ok := v.Interface().([]byte); ok {
			return fmt.Sprintf("%q", data)
		}
		var elements []string
		for i := range v.Len() {
			elements = append(elements, p.value(v.Index(i)))
		}
		return "[" + strings.Join(elements, " ") + "]"
	case reflect.String:
		return fmt.Sprintf("%q", p.path(v.String()))
	}
	return fmt.Sprint(v)
}

func (p printer) record(v reflect.Value) string {
	switch r := v.Interface().(type) {
	case wire.Stat:
		if p.stat != nil {
			return p.stat(r)
		}
	case wire.ID:
		return r.Scheme + ":" + r.ID
	case wire.ACL:
		return fmt.Sprintf("%d/%s:%s", r.Perms, r.ID.Scheme, r.ID.ID)
	case wire.Part:
		return opName(r.Op) + p.text(r.Body)
	case wire.Result:
		return fmt.Sprintf("%s(%d)%s", opName(r.Op), r.Err, p.text(r.Body))
	case wire.ChildrenReply:
		return p.names(r.Children)
	case wire.Children2Reply:
		return p.names(r.Children) + p.value(reflect.ValueOf(r.Stat))
	}
	var fields []string
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous {
			fields = append(fields, p.value(v.Field(i)))
		} else {
			fields = append(fields, strings.ToLower(f.Name)+"="+p.value(v.Field(i)))
		}
	}
	return "{" + strings.Join(fields, " ") + "}"
}

// names returns sorted names: servers keep them in hash tables.
func (p printer) names(list []string) string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = p.path(list[i])
	}
	slices.Sort(list)
	return fmt.Sprintf("%q", list)
}
