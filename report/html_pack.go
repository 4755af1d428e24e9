package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// pageData is the data for the page's script, except the bars.
type pageData struct {
	End       int64         `json:"end"` // ns, as all times
	Clients   bool          `json:"clients"`
	Named     int           `json:"named"`             // the number of clients by which processes are named; 0: they have numbers only
	Lanes     [][]int       `json:"lanes"`             // the processes of each lane
	Names     []string      `json:"names,omitempty"`   // of the lanes, unless they are those of a run
	Started   int64         `json:"started,omitempty"` // time 0 in ms since 1970, unless it is that of a run
	Locks     []lockData    `json:"locks"`
	Texts     []string      `json:"texts"`
	Tracks    [][3]int32    `json:"tracks"` // lock, lane, bars, in the order to show them
	Faults    []faultData   `json:"faults"`
	Servers   []*serverData `json:"servers"`
	Versions  bool          `json:"versions"` // the servers have run several versions
	Phases    []phaseData   `json:"phases"`
	Marks     []markData    `json:"marks"`
	Unmarked  int           `json:"unmarked"`
	Witnesses []witnessData `json:"witnesses"`
	Total     int           `json:"total"` // violations of the run, also those that are only counted
	Latency   []seriesData  `json:"latency"`
}

type lockData struct {
	Name      string           `json:"name"`
	Recipe    histories.Recipe `json:"recipe"`
	Exclusive bool             `json:"exclusive"`
}

// witnessData is the place of a violation.
type witnessData struct {
	Guarantee string   `json:"guarantee"`
	Lock      int32    `json:"lock"` // -1: none
	Lanes     []int32  `json:"lanes"`
	From      int64    `json:"from"`
	To        int64    `json:"to"`
	What      []string `json:"what"` // who and how long, why, what the servers' log says: a line each
	// The events from Since until Until explain the violation: From and To if none are known.
	Since int64      `json:"since"`
	Until int64      `json:"until"`
	Steps []stepData `json:"steps"`
	Fault int        `json:"fault"` // the index of the fault that is likely to have caused it; -1: none
}

// data returns the gathered data and tracks.
func (p *pass) data() (*pageData, []*track) {
	t := p.timeline
	d := &pageData{
		End: int64(p.end), Clients: t.clients > 0, Named: p.header.Clients, Faults: p.faults, Servers: p.servers, Versions: severalVersions(p.servers), Phases: p.phases,
		Marks: p.marks, Unmarked: p.unmarked, Latency: p.latency.data(), Total: p.violations,
	}
	for _, s := range p.stories {
		w := witnessData{Guarantee: s.guarantee, Lock: -1, Lanes: []int32{}, From: int64(s.witness.From), To: int64(s.witness.To), What: s.said(), Steps: []stepData{}}
		since, until := s.frame()
		w.Since, w.Until = int64(since), int64(until)
		w.Fault = -1
		if f := s.fault(); f != nil {
			w.Fault = slices.IndexFunc(p.faults, func(o faultData) bool { return o.ID == f.ID && o.From == int64(f.From) })
		}
		slices.SortStableFunc(s.steps, func(a, b stepData) int { return cmp.Compare(a.Time, b.Time) })
		for _, step := range s.steps {
			step.Lane = t.lane(step.process)
			w.Steps = append(w.Steps, step)
		}
		if s.witness.Lock != "" {
			if n, ok := t.lockNo[s.witness.Lock]; ok {
				w.Lock = n
			}
		}
		for _, party := range s.witness.Parties {
			if party.Process >= 0 {
				w.Lanes = append(w.Lanes, t.lane(party.Process))
			}
		}
		for _, wait := range s.witness.Waits {
			for _, waiter := range wait.Told() {
				if lane := t.lane(waiter.Process); !slices.Contains(w.Lanes, lane) {
					w.Lanes = append(w.Lanes, lane)
				}
			}
		}
		d.Witnesses = append(d.Witnesses, w)
	}
	for _, name := range t.locks {
		r := t.header.RecipeOf(name)
		d.Locks = append(d.Locks, lockData{name, r, r.Exclusive()})
	}
	d.Lanes, d.Texts = t.lanes, p.texts.list

	var tracks []*track
	for _, tr := range t.tracks {
		sortBars(tr.bars)
		tracks = append(tracks, tr)
	}
	recipes := histories.Recipes()
	slices.SortFunc(tracks, func(a, b *track) int {
		x, y := d.Locks[a.lock], d.Locks[b.lock]
		return cmp.Or(slices.Index(recipes, x.Recipe)-slices.Index(recipes, y.Recipe), cmp.Compare(len(x.Name), len(y.Name)), cmp.Compare(x.Name, y.Name),
			cmp.Compare(t.lanes[a.lane][0], t.lanes[b.lane][0]))
	})
	for _, tr := range tracks {
		d.Tracks = append(d.Tracks, [3]int32{tr.lock, tr.lane, int32(len(tr.bars))})
	}
	return d, tracks
}

// pack encodes the data for the page: the length of the JSON, the JSON, and the
// bars column by column, which compresses best. The whole is compressed, and in base64,
// which needs no escapes in HTML. page/data.js reads it.
func pack(ctx context.Context, d *pageData, tracks []*track) (string, error) {
	printed(reflect.ValueOf(d))
	text, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	letters := base64.NewEncoder(base64.StdEncoding, &out)
	packed, err := gzip.NewWriterLevel(letters, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	zip := until{ctx, packed}
	if _, err := zip.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		return "", err
	}
	var column []byte
	for _, c := range columns {
		column = column[:0]
		for _, tr := range tracks {
			if len(column) > 1<<16 {
				if _, err := zip.Write(column); err != nil {
					return "", err
				}
				column = column[:0]
			}
			before := bar{}
			for i := range tr.bars {
				column = c(column, &tr.bars[i], &before)
				before = tr.bars[i]
			}
		}
		if _, err := zip.Write(column); err != nil {
			return "", err
		}
	}
	if err := packed.Close(); err != nil {
		return "", err
	}
	if err := letters.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}

// printed makes each text in v printable on one line.
func printed(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); words.Line(text) != text {
			v.SetString(words.Line(text))
		}
	case reflect.Map: // of the params of a fault
		if params, ok := v.Interface().(map[string]string); ok && len(params) > 0 {
			lines := make(map[string]string, len(params))
			for name, value := range params {
				lines[words.Line(name)] = words.Line(value)
			}
			v.Set(reflect.ValueOf(lines))
		}
	case reflect.Pointer:
		printed(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			printed(v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			printed(field)
		}
	}
}

// columns are functions that each append one number of a bar, given the bar before it in
// its track. Bars are sorted by from, so that the differences are not negative; numbers
// that may be negative are zigzag.
var columns = []func(to []byte, b, before *bar) []byte{
	func(to []byte, b, before *bar) []byte { return unsigned(to, b.from-before.from) },
	func(to []byte, b, _ *bar) []byte { return unsigned(to, b.to-b.from) },
	func(to []byte, b, _ *bar) []byte { return append(to, byte(b.kind)) },
	func(to []byte, b, _ *bar) []byte { return append(to, b.flags) },
	func(to []byte, b, before *bar) []byte {
		return binary.AppendVarint(to, int64(b.process-before.process))
	},
	func(to []byte, b, _ *bar) []byte { return unsigned(to, b.owner) },
	func(to []byte, b, _ *bar) []byte { return unsigned(to, b.session) },
	func(to []byte, b, _ *bar) []byte { return unsigned(to, b.op) },
	func(to []byte, b, _ *bar) []byte { return unsigned(to, b.note) },
	func(to []byte, b, _ *bar) []byte { return unsigned(to, b.amount) },
	func(to []byte, b, _ *bar) []byte {
		if b.kind == many {
			return unsigned(to, b.share())
		}
		return unsigned(to, b.place)
	},
	// A number of a script has 53 bits, so a zxid takes two numbers.
	func(to []byte, b, before *bar) []byte {
		return binary.AppendVarint(to, int64(uint32(b.token.Zxid>>32))-int64(uint32(before.token.Zxid>>32)))
	},
	func(to []byte, b, before *bar) []byte {
		return binary.AppendVarint(to, int64(uint32(b.token.Zxid))-int64(uint32(before.token.Zxid)))
	},
	func(to []byte, b, _ *bar) []byte { return binary.AppendVarint(to, int64(b.token.Sub)) },
}

func unsigned[N time.Duration | int32](to []byte, n N) []byte {
	return binary.AppendUvarint(to, uint64(max(n, 0)))
}
