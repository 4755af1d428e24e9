// How the timeline is painted. Only what is in view is looked at, and what is narrower than a pixel or two is added up: such a
// column shows which share of it was held and which was waited.

const frame = { left: 150, overview: 20, ruler: 22, fault: 15, faultRows: 3 };

function isHold(k) { return k === kind.held || k === kind.inside; }
function isWait(k) { return k === kind.waited || k === kind.inVain || k === kind.unanswered; }

// layOut lays out a view: where time t is, and how high the part is that does not scroll.
function layOut(data, view, width) {
  const left = width < 640 ? 92 : frame.left;
  const scale = (width - left) / (view.to - view.from);
  const faults = data.faults.length ? frame.faultRows * frame.fault + 4 : 0;
  return { left, width, scale, top: frame.overview + frame.ruler + faults, x: (t) => left + (t - view.from) * scale, time: (x) => view.from + (x - left) / scale };
}

// paint draws everything that is in view.
function paint(data, view, rows, canvas, width, height, scroll) {
  const c = sizeTo(canvas, width, height);
  const at = layOut(data, view, width);
  c.font = '12px system-ui, "DejaVu Sans", sans-serif';
  c.textBaseline = 'middle';

  c.save();
  c.beginPath();
  c.rect(0, at.top, width, height - at.top);
  c.clip();
  const shown = rows.filter((r) => r.y + r.h > scroll && r.y < scroll + height - at.top);
  const below = (row) => at.top + row.y - scroll;
  for (const row of shown) {
    if (row.type === 'lock') {
      c.fillStyle = palette.panel;
      c.fillRect(0, below(row), width, row.h);
    }
  }
  paintGrid(c, at, view, height);
  paintFaultBands(c, data, view, at, shown, below);
  for (const row of shown) {
    const y = below(row);
    paintBars(c, data, view, at, row, y);
    if (row.type === 'lane') paintMarks(c, data, view, at, row, y);
    c.fillStyle = palette.line;
    c.fillRect(0, y + row.h - 0.5, width, 0.5);
    if (row.pinned) {
      c.fillStyle = palette.bad;
      c.fillRect(0, y, 4, row.h);
    }
  }
  paintViolations(c, data, view, at, shown, below);
  // Names last: bars that begin before the view do not run through them.
  for (const row of shown) {
    const y = below(row);
    c.fillStyle = row.type === 'lock' ? palette.panel : palette.page;
    c.fillRect(row.pinned ? 4 : 0, y, at.left - (row.pinned ? 4 : 0), row.h - 0.5);
    c.fillStyle = row.type === 'lock' ? palette.ink : palette.quiet;
    c.font = (row.type === 'lock' ? '600 ' : '') + '12px system-ui, "DejaVu Sans", sans-serif';
    const text = row.type === 'lock' ? (row.pinned ? '✗ ' : row.open ? '▾ ' : '▸ ') + (row.lock < 0 ? 'violation' : data.locks[row.lock].name) : laneName(data, row.lane);
    c.fillText(fit(c, text, at.left - (row.type === 'lock' ? 14 : 28)), row.type === 'lock' ? 8 : 22, y + row.h / 2);
    if (row === view.row) {
      c.strokeStyle = palette.focus;
      c.lineWidth = 2;
      c.strokeRect(1, y + 1, width - 2, row.h - 2);
    }
  }
  if (view.row && view.bar >= 0) {
    const x = at.x(data.bars.from[view.bar]), w = Math.max(4, (data.bars.to[view.bar] - data.bars.from[view.bar]) * at.scale);
    c.strokeStyle = palette.ink;
    c.lineWidth = 2;
    c.strokeRect(Math.max(at.left, x) - 1, below(view.row), Math.min(w, width - Math.max(at.left, x)) + 2, view.row.h);
  }
  c.restore();
  paintTop(c, data, view, at);
  c.fillStyle = palette.line;
  c.fillRect(at.left - 0.5, frame.overview, 1, height);
}

// What of a track is drawn: in its lane anything, in the row of its lock what is held, or waited for at a barrier.
function anything() { return true; }
function isHeld(k) { return isHold(k) || k === kind.many; }
function isAwaited(k) { return isWait(k) || k === kind.many; }
function together(data, row) { return row.lock >= 0 && data.locks[row.lock].recipe === 'barrier' ? isAwaited : isHeld; }

// paintBars draws the bars of a row.
function paintBars(c, data, view, at, row, y) {
  const lock = row.type === 'lock', which = lock ? together(data, row) : anything;
  const edge = lock ? 4 : 2, h = row.h - 2 * edge, columns = Math.ceil(at.width - at.left) + 1, b = data.bars;
  let held = null, awaited = null;
  for (const track of row.tracks) {
    for (let i = firstBar(data, track, view.from); i < track.end && b.from[i] <= view.to; i++) {
      const k = b.kind[i];
      if (!which(k)) continue;
      const width = (b.to[i] - b.from[i]) * at.scale;
      if (width >= 2 && k !== kind.many || k === kind.suspended || k === kind.afterLoss || k === kind.unanswered) {
        paintBar(c, k, b.flags[i], at.x(b.from[i]), width, y + edge, h, at);
        continue;
      }
      if (k === kind.heldAgain || k === kind.releasing || k === kind.other) continue; // seen when there is room for them
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
  if (!held) return;
  if (which !== isHeld) {
    c.fillStyle = palette.wait;
    for (let x = 0; x < columns; x++) {
      if (awaited[x] === 0) continue;
      const high = h * Math.max(0.3, Math.min(1, awaited[x]) * 0.5);
      c.fillRect(at.left + x, y + edge + (h - high) / 2, 1, high);
    }
  }
  c.fillStyle = palette.hold;
  for (let x = 0; x < columns; x++) {
    if (held[x] === 0) continue;
    const high = h * Math.max(0.15, Math.min(1, held[x]));
    c.fillRect(at.left + x, y + edge + h - high, 1, high);
  }
}

// paintBar draws one bar from x on, so wide, in a lane at y that is h high.
function paintBar(c, k, flags, x, width, y, h, at) {
  let end = Math.min(x + width, at.width + 4);
  x = Math.max(x, at.left - 4);
  let w = end - x;
  const middle = y + h / 2;
  switch (k) {
    case kind.waited:
      c.fillStyle = palette.wait;
      c.fillRect(x, middle - h * 0.2, w, h * 0.4);
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
      c.fillRect(x, middle - h * 0.15, w, h * 0.3);
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
      c.fillStyle = palette.bad;
      c.fillRect(x, y, 2.5, h);
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

// paintMarks draws the ends of sessions and of processes.
function paintMarks(c, data, view, at, row, y) {
  for (const m of data.marksOf.get(row.lane) || []) {
    if (m.t < view.from || m.t > view.to) continue;
    const x = at.x(m.t);
    c.strokeStyle = c.fillStyle = palette.bad;
    c.lineWidth = 1.6;
    c.beginPath();
    if (m.y === 'expired') {
      c.moveTo(x, y + 1);
      c.lineTo(x, y + row.h - 1);
      c.stroke();
      c.beginPath();
      c.moveTo(x - 4, y + 1);
      c.lineTo(x + 4, y + 1);
      c.lineTo(x, y + 6);
      c.fill();
    } else {
      const m = y + row.h / 2;
      c.moveTo(x - 4, m - 4);
      c.lineTo(x + 4, m + 4);
      c.moveTo(x + 4, m - 4);
      c.lineTo(x - 4, m + 4);
      c.stroke();
    }
  }
}

// hits reports whether a fault hits a lane.
function hits(fault, lane) { return !fault.lanes || fault.lanes.includes(lane); }

function paintFaultBands(c, data, view, at, shown, below) {
  for (const f of data.faults) {
    if (f.to < view.from || f.from > view.to) continue;
    const x = Math.max(at.left, at.x(f.from)), w = Math.max(1, Math.min(at.width, at.x(f.to)) - x);
    for (const row of shown) {
      const hit = row.type === 'lane' && hits(f, row.lane);
      c.globalAlpha = hit ? 0.16 : 0.05;
      c.fillStyle = palette.fault;
      c.fillRect(x, below(row), w, row.h);
      if (hit) {
        c.globalAlpha = 0.3;
        c.fillStyle = palette.faultBand;
        c.fillRect(x, below(row), w, row.h);
      }
    }
  }
  c.globalAlpha = 1;
}

function paintViolations(c, data, view, at, shown, below) {
  data.witnesses.forEach((w, i) => {
    if (w.to < view.from || w.from > view.to) return;
    const x = Math.max(at.left - 2, at.x(w.from)), wide = Math.max(3, Math.min(at.width + 2, at.x(w.to)) - x);
    for (const row of shown) {
      if (row.lock !== w.lock || (row.type === 'lane' && w.lanes.length && !w.lanes.includes(row.lane))) continue;
      c.strokeStyle = palette.bad;
      c.lineWidth = i === view.violation ? 3 : 1.5;
      c.strokeRect(x, below(row) + 1, wide, row.h - 2);
    }
  });
}

// niceStep returns a step of 1, 2 or 5 times a power of ten.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const m of [1, 2, 5]) if (m * power >= least) return m * power;
  return 10 * power;
}

function ticks(at, view) {
  const step = niceStep((view.to - view.from) / Math.max(2, (at.width - at.left) / 110));
  const all = [];
  for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) all.push(n * step);
  return { step, all };
}

function paintGrid(c, at, view, height) {
  c.fillStyle = palette.line;
  c.globalAlpha = 0.6;
  for (const t of ticks(at, view).all) c.fillRect(at.x(t), at.top, 1, height);
  c.globalAlpha = 1;
}

// paintTop draws what does not scroll: the whole run with the view in it, the ruler, and the faults with their names.
function paintTop(c, data, view, at) {
  c.fillStyle = palette.page;
  c.fillRect(0, 0, at.width, at.top);
  c.font = '11px system-ui, "DejaVu Sans", sans-serif';
  const wide = at.width - at.left, whole = (t) => at.left + (t / data.end) * wide;
  c.fillStyle = palette.panel;
  c.fillRect(at.left, 1, wide, frame.overview - 3);
  c.fillStyle = palette.fault;
  c.globalAlpha = 0.7;
  for (const f of data.faults) c.fillRect(whole(f.from), frame.overview - 7, Math.max(1, whole(f.to) - whole(f.from)), 4);
  c.globalAlpha = 1;
  let free = 0;
  for (const p of data.phases) {
    c.fillStyle = palette.quiet;
    c.fillRect(whole(p.from), 1, 1.5, frame.overview - 3);
    if (whole(p.from) < free || whole(p.from) + c.measureText(p.name).width + 4 > at.width) continue;
    c.fillStyle = palette.ink;
    c.fillText(p.name, whole(p.from) + 4, 7);
    free = whole(p.from) + c.measureText(p.name).width + 8;
  }
  c.fillStyle = palette.bad;
  for (const w of data.witnesses) c.fillRect(whole(w.from) - 1, 1, 2.5, frame.overview - 3);
  c.strokeStyle = palette.ink;
  c.lineWidth = 1.5;
  const x = whole(Math.max(0, view.from)), w = Math.max(4, whole(Math.min(data.end, view.to)) - x);
  c.strokeRect(Math.min(x, at.width - 5), 1.5, w, frame.overview - 4);
  c.fillStyle = palette.quiet;
  c.fillText(fit(c, 'whole run', at.left - 12), 8, frame.overview / 2);

  const { step, all } = ticks(at, view), y = frame.overview + frame.ruler / 2;
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9))));
  c.fillStyle = palette.quiet;
  c.fillText('time', 8, y);
  for (const t of all) {
    const text = seconds(t, digits);
    if (at.x(t) + c.measureText(text).width + 4 > at.width) continue;
    c.fillText(text, at.x(t) + 3, y);
    c.fillRect(at.x(t), y - 6, 1, at.top - y + 6);
  }
  for (const p of data.phases) {
    if (p.from < view.from || p.from > view.to) continue;
    c.fillStyle = palette.ink;
    c.fillRect(at.x(p.from) - 0.5, frame.overview, 2, frame.ruler);
  }
  if (!data.faults.length) return;
  c.fillStyle = palette.quiet;
  c.fillText('faults', 8, frame.overview + frame.ruler + 8);
  for (const f of data.faults) {
    if (f.to < view.from || f.from > view.to) continue;
    const x = Math.max(at.left, at.x(f.from)), w = Math.max(2, Math.min(at.width, at.x(f.to)) - x), y = faultTop(f);
    c.fillStyle = palette.fault;
    c.globalAlpha = 0.25;
    c.fillRect(x, y, w, frame.fault - 2);
    c.globalAlpha = 1;
    c.fillRect(x, y, 2, frame.fault - 2);
    if (w > 30) {
      c.fillStyle = palette.ink;
      c.fillText(fit(c, faultName(f), w - 8), x + 5, y + (frame.fault - 2) / 2);
    }
  }
}

// faultTop returns where a fault is drawn: rows are given out so that faults which overlap seldom share one.
function faultTop(f) { return frame.overview + frame.ruler + 2 + f.row * frame.fault; }

function faultName(f) { return f.name + (f.targets ? ': ' + f.targets.join(', ') : ''); }

function stackFaults(faults) {
  const free = new Array(frame.faultRows).fill(-1);
  for (const f of faults) {
    let row = free.findIndex((until) => until <= f.from);
    if (row < 0) row = free.indexOf(Math.min(...free));
    free[row] = Math.max(free[row], f.to);
    f.row = row;
  }
}
