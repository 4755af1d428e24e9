package histories

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// word returns a keyword, symbol or string as a string, anything else as "".
func word(v any) string {
	switch v := v.(type) {
	case keyword:
		return string(v)
	case symbol:
		return string(v)
	case string:
		return v
	}
	return ""
}

func toJSON(v any) ([]byte, error) {
	p, err := plain(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

// plain converts an EDN value to a value that JSON can hold.
func plain(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, string, float64, time.Duration:
		return v, nil
	case *big.Int:
		return json.Number(v.String()), nil
	case keyword:
		return string(v), nil
	case symbol:
		return string(v), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = plain(v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return plainMap(len(v), maps.All(v))
	case ednMap:
		return plainMap(len(v), func(yield func(string, any) bool) {
			for _, p := range v {
				if !yield(word(p.key), p.value) {
					return
				}
			}
		})
	}
	return nil, fmt.Errorf("EDN's %s has no place in a history", kindOf(v))
}

func plainMap(n int, pairs iter.Seq2[string, any]) (any, error) {
	out := make(map[string]any, n)
	for name, v := range pairs {
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("the key %.40q stands in a map twice", name)
		}
		var err error
		if out[name], err = plain(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// kindOf returns the name of a value's kind.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "boolean"
	case int64, *big.Int:
		return "integer"
	case float64:
		return "float"
	case *big.Rat:
		return "ratio"
	case rune:
		return "character"
	case string:
		return "string"
	case keyword:
		return "keyword"
	case symbol:
		return "symbol"
	case time.Time:
		return "instant"
	case []any:
		return "vector or list"
	case ednSet:
		return "set"
	case ednMap:
		return "map"
	}
	return "value with a tag"
}

// ednText returns a value as EDN, with the elements of maps and sets in order. Two values have
// the same text if and only if they are equal.
func ednText(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case *big.Int:
		return v.String()
	case *big.Rat:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64)
	case rune:
		return `\` + strconv.Itoa(int(v))
	case string:
		return strconv.Quote(v)
	case keyword:
		return ":" + string(v)
	case symbol:
		return string(v)
	case time.Time:
		return "#inst " + strconv.Quote(v.Format(time.RFC3339Nano))
	case []any:
		return "[" + strings.Join(texts(v), " ") + "]"
	case ednSet:
		return "#{" + strings.Join(slices.Sorted(slices.Values(texts(v))), " ") + "}"
	case ednMap:
		pairs := make([]string, len(v))
		for i, p := range v {
			pairs[i] = ednText(p.key) + " " + ednText(p.value)
		}
		slices.Sort(pairs)
		return "{" + strings.Join(pairs, ", ") + "}"
	case tagged:
		return "#" + v.tag + " " + ednText(v.value)
	}
	return fmt.Sprint(v)
}

func texts(all []any) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = ednText(v)
	}
	return out
}

// keyText returns the name of a lock or a register. A string is its own name, unless it could be
// the text of another value.
func keyText(v any) string {
	switch v := v.(type) {
	case symbol:
		return "'" + string(v)
	case string:
		if v == "" || v == "nil" || v == "true" || v == "false" || isDigit(v[0]) || strings.ContainsAny(v[:1], `:"[({#\'+-`) {
			return strconv.Quote(v)
		}
		return v
	}
	return ednText(v)
}

// pairOf returns the key and the value of a tuple of jepsen.independent: a vector of two, or a
// value with a tag that says so.
func pairOf(v any) (key, value any, ok bool) {
	if t, is := v.(tagged); is {
		if !strings.HasSuffix(t.tag, "Tuple") && !strings.HasSuffix(t.tag, "MapEntry") && t.tag != "kv" {
			return nil, nil, false
		}
		if m, is := t.value.(ednMap); is {
			key, hasKey := m.either("key", "k")
			value, hasValue := m.either("value", "val", "v")
			return key, value, hasKey && hasValue && len(m) == 2
		}
		v = t.value
	}
	if all, is := v.([]any); is && len(all) == 2 {
		return all[0], all[1], true
	}
	return nil, nil, false
}

// either returns the value of the first of these names that is a key of the map.
func (m ednMap) either(names ...string) (any, bool) {
	for _, name := range names {
		for _, p := range m {
			if k, is := p.key.(keyword); is && string(k) == name {
				return p.value, true
			}
		}
	}
	return nil, false
}

// whole returns a number without a fraction as an integer.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		if n := int64(v); v >= -1<<62 && v <= 1<<62 && float64(n) == v {
			return n, true
		}
	}
	return 0, false
}
