// The data of the page, unpacked from the data that html_pack.go packed. Times are in ns.

const kind = { waited: 0, inVain: 1, unanswered: 2, held: 3, heldAgain: 4, suspended: 5, afterLoss: 6, releasing: 7, inside: 8, other: 9, many: 10, stale: 11 };
const flag = { open: 1, read: 2, write: 4 };

async function unpack() {
  if (!('DecompressionStream' in window)) throw new Error('This browser is too old for the timeline: it needs Chromium 80, Firefox 113, Safari 16.4 or newer.');
  const element = document.getElementById('data');
  const letters = atob(element.textContent.trim());
  element.remove(); // it is large
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(raw.buffer).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + size)));
  for (const list of ['tracks', 'faults', 'phases', 'marks', 'witnesses', 'latency', 'lanes', 'locks', 'servers']) data[list] ||= [];

  // The bars, one array for each column.
  let at = 4 + size;
  let n = 0;
  for (const t of data.tracks) n += t[2];
  const tracks = data.tracks;
  // A number of up to 63 bits, of which a script keeps 53.
  function unsigned() {
    let b = raw[at++];
    let v = b & 127;
    for (let scale = 128; b > 127; scale *= 128) {
      b = raw[at++];
      v += (b & 127) * scale;
    }
    return v;
  }
  function signed() {
    const v = unsigned();
    return v % 2 === 0 ? v / 2 : -(v + 1) / 2;
  }
  const plain = (column, next) => {
    for (let i = 0; i < n; i++) column[i] = next();
    return column;
  };
  const differences = (column, next) => {
    let i = 0;
    for (const t of tracks) {
      let v = 0;
      for (const end = i + t[2]; i < end; i++) column[i] = v += next();
    }
    return column;
  };
  const byte = () => raw[at++];
  const from = differences(new Float64Array(n), unsigned);
  const to = plain(new Float64Array(n), unsigned);
  for (let i = 0; i < n; i++) to[i] += from[i];
  const bars = {
    n, from, to,
    kind: plain(new Uint8Array(n), byte),
    flags: plain(new Uint8Array(n), byte),
    process: differences(new Int32Array(n), signed),
    owner: plain(new Int32Array(n), unsigned),
    session: plain(new Int32Array(n), unsigned),
    op: plain(new Int32Array(n), unsigned),
    note: plain(new Int32Array(n), unsigned),
    amount: plain(new Int32Array(n), unsigned),
    place: plain(new Int32Array(n), unsigned),
    high: differences(new Uint32Array(n), signed),
    low: differences(new Uint32Array(n), signed),
    sub: plain(new Int32Array(n), signed),
    latest: new Float64Array(n), // the end of any bar of the track up to this one
  };
  let first = 0;
  data.tracks = tracks.map(([lock, lane, count]) => {
    const t = { lock, lane, first, end: first + count };
    let latest = 0;
    for (let i = t.first; i < t.end; i++) bars.latest[i] = latest = Math.max(latest, to[i]);
    first = t.end;
    return t;
  });
  data.bars = bars;
  data.end = Math.max(data.end, 1);
  return data;
}

// firstBar returns the first bar of a track that may reach to a time.
function firstBar(data, track, time) {
  let low = track.first, high = track.end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.bars.latest[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// firstAt returns the index of the first element of a list in order whose time is not before a time.
function firstAt(list, time, of) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
