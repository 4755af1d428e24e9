// The rows of the timeline, from top to bottom: those of the violation that is looked at, then a row for each lock with all
// that hold it, and a lane for each client that has used it.

const rowHeight = { lock: 26, lane: 18 };

function laneName(data, lane) {
  const processes = data.lanes[lane];
  return data.clients ? 'client ' + processes[0] : 'process ' + processes[0];
}

function makeRows(data, view) {
  const rows = [];
  let y = 0;
  const put = (row) => {
    row.y = y;
    row.h = rowHeight[row.type];
    y += row.h;
    rows.push(row);
  };
  const byLock = new Map();
  for (const t of data.tracks) {
    if (!byLock.has(t.lock)) byLock.set(t.lock, []);
    byLock.get(t.lock).push(t);
  }
  const w = data.witnesses[view.violation];
  if (w) {
    const tracks = byLock.get(w.lock) || [];
    put({ type: 'lock', lock: w.lock, tracks, pinned: true, open: true });
    const lanes = w.lanes.length ? [...new Set(w.lanes)] : tracks.map((t) => t.lane);
    for (const lane of lanes) put({ type: 'lane', lock: w.lock, lane, tracks: tracks.filter((t) => t.lane === lane), pinned: true });
  }
  for (const [lock, tracks] of byLock) {
    if (view.lock >= 0 && lock !== view.lock) continue;
    const open = view.folded.has(lock) !== view.unfold;
    put({ type: 'lock', lock, tracks, open });
    if (open) for (const t of tracks) put({ type: 'lane', lock, lane: t.lane, tracks: [t] });
  }
  rows.height = y;
  return rows;
}
