// The bars of lanes and locks, and the words on them.

// The kinds of bars that are drawn: in a lane all kinds, in the row of a lock the holds, and the waits at a barrier.
function isHold(k) { return k === kind.held || k === kind.inside; }
function isWait(k) { return k === kind.waited || k === kind.inVain || k === kind.unanswered; }
function anything() { return true; }
function isHeld(k) { return isHold(k) || k === kind.stale || k === kind.many; }
function isAwaited(k) { return isWait(k) || k === kind.many; }
function together(data, row) { return row.lock >= 0 && data.locks[row.lock].recipe === 'barrier' ? isAwaited : isHeld; }

// Suspended, lost, stale and unanswered bars are drawn even if they are very short.
function alwaysDrawn(k) { return k === kind.suspended || k === kind.afterLoss || k === kind.unanswered || k === kind.stale; }

// paintBars draws the bars of a row.
function paintBars(c, data, view, at, row, y) {
  const lock = row.type === 'lock', which = lock ? together(data, row) : anything;
  const edge = lock ? 4 : 2, h = row.h - 2 * edge, columns = Math.ceil(at.width - at.left) + 1, b = data.bars;
  const drawn = [];
  let held = null, awaited = null;
  for (const track of row.tracks) {
    for (let i = firstBar(data, track, view.from); i < track.end && b.from[i] <= view.to; i++) {
      const k = b.kind[i];
      if (!which(k)) continue;
      const width = (b.to[i] - b.from[i]) * at.scale;
      if (width >= 2 && k !== kind.many || alwaysDrawn(k)) {
        drawn.push({ i, k, x: at.x(b.from[i]), width });
        continue;
      }
      if (k === kind.heldAgain || k === kind.releasing || k === kind.other) continue; // drawn only when there is room for them
      held ||= new Float32Array(columns);
      awaited ||= new Float32Array(columns);
      const share = k === kind.many ? b.place[i] / 100 : isHold(k) ? 1 : 0;
      const first = (b.from[i] - view.from) * at.scale, last = first + Math.max(width, 0.02);
      for (let x = Math.max(0, Math.floor(first)); x < columns && x < last; x++) {
        const part = Math.min(x + 1, last) - Math.max(x, first);
        held[x] += part * share;
        awaited[x] += part * (1 - share);
      }
    }
  }
  // Where clients share a row, a hold takes half of the height while another client holds: the stale or the earlier hold is below.
  const shared = lock && row.lock >= 0 && data.locks[row.lock].exclusive;
  if (shared) drawn.sort((p, q) => (q.k === kind.stale) - (p.k === kind.stale) || p.x - q.x);
  const stale = drawn.filter((d) => d.k === kind.stale);
  let reach = -1;
  for (const d of drawn) {
    const both = shared && d.k !== kind.stale && (b.from[d.i] < reach || stale.some((o) => b.from[o.i] < b.to[d.i] && b.from[d.i] < b.to[o.i]));
    if (d.k !== kind.stale) reach = Math.max(reach, b.to[d.i]);
    d.high = both ? h / 2 : h;
    paintBar(c, d.k, b.flags[d.i], d.x, d.width, y + edge, d.high, at);
  }
  if (held) paintColumns(c, at, held, which === isHeld ? null : awaited, y + edge, h);
  paintWords(c, data, at, row, drawn, y + edge, h);
}

// paintColumns draws bars that are narrower than a pixel or two: the shares of each column that were held and waited.
function paintColumns(c, at, held, awaited, y, h) {
  if (awaited) {
    c.fillStyle = palette.wait;
    for (let x = 0; x < awaited.length; x++) {
      if (awaited[x] === 0) continue;
      const high = h * Math.max(0.3, Math.min(1, awaited[x]) * 0.5);
      c.fillRect(at.left + x, y + (h - high) / 2, 1, high);
    }
  }
  c.fillStyle = palette.hold;
  for (let x = 0; x < held.length; x++) {
    if (held[x] === 0) continue;
    const high = h * Math.max(0.15, Math.min(1, held[x]));
    c.fillRect(at.left + x, y + h - high, 1, high);
  }
}

// words returns the texts that may be written on a bar, the longest first.
function words(data, i, k) {
  const process = actor(data, data.bars.process[i]), token = tokenText(data.bars, i);
  switch (k) {
    case kind.held: case kind.inside: return token ? [`${process}, token ${token}`, `${process}, ${token}`, process] : [process];
    case kind.stale: return [`STALE: ${process} believes that it holds it`, `STALE: ${process}`, 'STALE'];
    case kind.suspended: return ['suspended'];
    case kind.afterLoss: return ['told of the loss', 'told'];
    case kind.waited: return [`${process} waits`, 'waits'];
  }
  return [];
}

// paintWords writes on bars that have room not taken by another bar of the row.
function paintWords(c, data, at, row, drawn, y, h) {
  c.font = (h > 20 ? '12px' : '11px') + fontFamily;
  for (const d of drawn) {
    const end = Math.min(d.x + d.width, at.width);
    if (end - d.x < 36 || d.high < 12 || (d.k === kind.waited && !row.pinned) || (d.k === kind.held && data.bars.flags[d.i] & flag.read && h < 24)) continue;
    const free = widestFree(d, Math.max(d.x, at.left), end, drawn);
    const text = words(data, d.i, d.k).find((t) => c.measureText(t).width + 10 <= free.to - free.from);
    if (!text) continue;
    const x = free.from + 5;
    if (d.k !== kind.held && d.k !== kind.waited) {
      c.fillStyle = palette.page;
      c.fillRect(x - 2, y + h / 2 - 6.5, c.measureText(text).width + 4, 13);
    }
    c.fillStyle = d.k === kind.held ? palette['hold-ink'] : d.k === kind.stale ? palette.bad : palette.ink;
    c.fillText(text, x, y + h / 2 + (d.k === kind.held && data.bars.flags[d.i] & flag.read ? h * 0.22 : 0.5));
  }
}

// widestFree returns the widest stretch of a bar that no other bar covers.
function widestFree(bar, from, to, others) {
  let best = { from, to: from }, start = from;
  const over = others.filter((o) => o !== bar && o.x < to && o.x + o.width > from).sort((p, q) => p.x - q.x);
  for (const o of over) {
    if (o.x - start > best.to - best.from) best = { from: start, to: o.x };
    start = Math.max(start, o.x + Math.max(o.width, 4));
  }
  return to - start > best.to - best.from ? { from: start, to } : best;
}

// paintBar draws one bar at x, with its width, in a lane at y with height h.
function paintBar(c, k, flags, x, width, y, h, at) {
  let end = Math.min(x + width, at.width + 4);
  x = Math.max(x, at.left - 4);
  let w = end - x;
  const middle = y + h / 2;
  switch (k) {
    case kind.waited:
      c.fillStyle = palette.wait;
      c.fillRect(x, middle - (h > 20 ? 7 : h * 0.2), w, h > 20 ? 14 : h * 0.4);
      break;
    case kind.inVain:
      c.strokeStyle = palette.vain;
      c.lineWidth = 1.5;
      c.setLineDash([4, 3]);
      c.beginPath();
      c.moveTo(x, middle);
      c.lineTo(x + w, middle);
      c.stroke();
      c.setLineDash([]);
      c.beginPath();
      c.moveTo(x + w - 0.75, middle - h * 0.3);
      c.lineTo(x + w - 0.75, middle + h * 0.3);
      c.stroke();
      break;
    case kind.unanswered:
      w = Math.max(w, 3);
      c.fillStyle = palette.sparse;
      c.fillRect(x, middle - h * 0.3, w, h * 0.6);
      c.strokeStyle = palette.vain;
      c.lineWidth = 1;
      c.strokeRect(x, middle - h * 0.3, w, h * 0.6);
      break;
    case kind.held: {
      const high = flags & flag.read ? h * 0.55 : h;
      c.fillStyle = palette.hold;
      c.fillRect(x, y + h - high, w, high);
      if (w > 3) {
        c.strokeStyle = palette['hold-edge'];
        c.lineWidth = 1;
        c.strokeRect(x + 0.5, y + h - high + 0.5, w - 1, high - 1);
      }
      break;
    }
    case kind.heldAgain:
      c.fillStyle = palette.again;
      c.fillRect(x, y + h * 0.72, w, h * 0.28);
      break;
    case kind.suspended:
      w = Math.max(w, 3);
      c.fillStyle = palette.strokes;
      c.fillRect(x, y, w, h);
      c.strokeStyle = palette.open;
      c.lineWidth = 1;
      c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      break;
    case kind.afterLoss:
      w = Math.max(w, 4);
      c.fillStyle = palette.cross;
      c.fillRect(x, y, w, h);
      c.fillStyle = palette.vain;
      c.fillRect(x, y, 2.5, h);
      break;
    case kind.stale:
      w = Math.max(w, 4);
      c.fillStyle = palette.stale;
      c.fillRect(x, y, w, h);
      c.strokeStyle = palette.bad;
      c.lineWidth = 1.5;
      c.setLineDash([5, 3]);
      c.strokeRect(x + 0.75, y + 0.75, w - 1.5, h - 1.5);
      c.setLineDash([]);
      break;
    case kind.releasing:
      c.fillStyle = palette['hold-edge'];
      c.fillRect(x, y + h * 0.75, w, h * 0.25);
      break;
    case kind.inside:
      c.fillStyle = palette.hold;
      c.fillRect(x, y, w, h * 0.25);
      c.fillRect(x, y + h * 0.75, w, h * 0.25);
      break;
    case kind.other:
      c.fillStyle = palette.event;
      c.fillRect(x, y + h * 0.3, Math.max(w, 1.5), h * 0.4);
      break;
  }
}
