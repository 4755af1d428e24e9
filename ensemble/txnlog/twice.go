package txnlog

// Twice returns the zxids of the transactions that a server has logged more than once, in
// the order of their second time (ZOOKEEPER-4394). Its errors are those of [ReadLog].
//
// A server that returns to its leader's transactions cuts its log back and goes on with
// the transaction after the cut: such a log has none twice.
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
