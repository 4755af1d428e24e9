package txnlog

// Twice returns the transactions that a server has logged more than once, by their zxids, in
// the order of their second time (ZOOKEEPER-4394). Its errors are those of [ReadLog].
//
// A log that was cut back, as when a server returns to what its leader has, goes on with the
// transaction after the cut: it has none twice.
func Twice(d Dir) (zxids []int64, err error) {
	seen := make(map[int64]int)
	for t, err := range d.entries() {
		if err != nil {
			return nil, err
		}
		if seen[t.Zxid]++; seen[t.Zxid] == 2 {
			zxids = append(zxids, t.Zxid)
		}
	}
	return zxids, nil
}
