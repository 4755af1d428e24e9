// The rows of the timeline, from top to bottom: the steps that led to the chosen violation, with the lanes of its parties;
// the servers; then a row for each lock with all its holds, and a lane for each client that has used it.

const rowHeight = { lock: 26, lane: 18, server: 18, step: 16 };
const pinnedHeight = 28; // high enough for words

// actor names a process as the sentences about it do: client 4 (process 14).
function actor(data, process) {
  if (data.names) return data.names[process];
  if (!data.named) return 'process ' + process;
  return `client ${process % data.named}` + (process >= data.named ? ` (process ${process})` : '');
}

function laneName(data, lane) {
  const processes = data.lanes[lane];
  if (data.names) return data.names[lane];
  return data.clients ? 'client ' + processes[0] : 'process ' + processes[0];
}

function makeRows(data, view, lines) {
  const rows = [];
  let y = 0;
  const put = (row, h = rowHeight[row.type]) => {
    row.y = y;
    row.h = h;
    y += h;
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
    put({ type: 'why', lock: w.lock, tracks: [], pinned: true }, 6 + rowHeight.step * lines);
    if (tracks.length) put({ type: 'lock', lock: w.lock, tracks, pinned: true, open: true });
    const lanes = w.lanes.length ? [...new Set(w.lanes)] : tracks.map((t) => t.lane);
    for (const lane of lanes) put({ type: 'lane', lock: w.lock, lane, tracks: tracks.filter((t) => t.lane === lane), pinned: true }, pinnedHeight);
  }
  data.servers.forEach((_, server) => put({ type: 'server', lock: -1, server, tracks: [] }));
  for (const [lock, tracks] of byLock) {
    if (view.lock >= 0 && lock !== view.lock) continue;
    const open = opensLock(view, lock, w) !== view.folded.has(lock);
    put({ type: 'lock', lock, tracks, open });
    if (open) for (const t of tracks) put({ type: 'lane', lock, lane: t.lane, tracks: [t] });
  }
  rows.height = y;
  return rows;
}

// opensLock reports whether a lock shows its lanes, unless it was folded or opened by hand. While a violation is chosen, only
// its lock does.
function opensLock(view, lock, witness) { return witness && view.apart ? lock === witness.lock : view.unfold; }
