package histories

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/big"
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

// plain turns an EDN value into one that JSON has.
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

// kindOf names what a value is.
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
