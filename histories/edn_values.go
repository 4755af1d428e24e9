package histories

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"olympos.io/encoding/edn"
)

// word returns a keyword, symbol or string as a string, anything else as "".
func word(v any) string {
	switch v := v.(type) {
	case edn.Keyword:
		return string(v)
	case edn.Symbol:
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
	case edn.Keyword:
		return string(v), nil
	case edn.Symbol:
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
		return plainMap(v, func(k string) string { return k })
	case map[any]any:
		return plainMap(v, func(k any) string { return word(k) })
	}
	return nil, fmt.Errorf("an EDN value of type %T has no place in a history", v)
}

func plainMap[K comparable](m map[K]any, name func(K) string) (any, error) {
	out := make(map[string]any, len(m))
	for k, v := range m {
		n := name(k)
		if _, twice := out[n]; twice {
			return nil, fmt.Errorf("the key %q stands in a map twice", n)
		}
		var err error
		if out[n], err = plain(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
