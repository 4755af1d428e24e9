// Painting of the timeline. It paints only the part in view, and adds up bars that are narrower than a pixel or two: such a
// column shows the shares that were held and waited.

const frame = { left: 150, overview: 20, ruler: 22, fault: 15 };
const fontFamily = ' system-ui, "DejaVu Sans", sans-serif';

// layOut lays out a view: the place of a time t, and the height of the part that does not scroll.
function layOut(data, view, width) {
  const left = width < 640 ? 92 : frame.left;
  const scale = (width - left) / (view.to - view.from);
  const faults = data.faults.length ? data.faultRows.count * data.faultRows.height + 4 : 0;
  return { left, width, scale, top: frame.overview + frame.ruler + faults, x: (t) => left + (t - view.from) * scale, time: (x) => view.from + (x - left) / scale };
}

// paint draws everything that is in view.
function paint(data, view, rows, canvas, width, height, scroll) {
  const c = sizeTo(canvas, width, height);
  const at = layOut(data, view, width);
  c.font = '12px' + fontFamily;
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
    if (row.type === 'server') paintServer(c, data, view, at, row, y);
    c.fillStyle = palette.line;
    c.fillRect(0, y + row.h - 0.5, width, 0.5);
    if (row.pinned) {
      c.fillStyle = palette.bad;
      c.fillRect(0, y, 4, row.h);
    }
  }
  paintViolations(c, data, view, at, shown, below);
  paintWhy(c, data, view, at, rows, below);
  // Names are painted last, so that bars that begin before the view do not run through them.
  for (const row of shown) {
    const y = below(row);
    c.fillStyle = row.type === 'lock' ? palette.panel : palette.page;
    c.fillRect(row.pinned ? 4 : 0, y, at.left - (row.pinned ? 4 : 0), row.h - 0.5);
    c.fillStyle = row.type === 'lock' ? palette.ink : palette.quiet;
    c.font = (row.type === 'lock' ? '600 ' : '') + '12px' + fontFamily;
    const inset = row.type === 'lock' || row.type === 'why' ? 8 : 22;
    c.fillText(fit(c, rowLabel(data, row), at.left - inset - 6), inset, y + (row.type === 'why' ? rowHeight.step / 2 + 3 : row.h / 2));
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

function rowLabel(data, row) {
  switch (row.type) {
    case 'why': return 'why';
    case 'lock': return (row.pinned ? '✗ ' : row.open ? '▾ ' : '▸ ') + data.locks[row.lock].name;
    case 'server': return 'server ' + data.servers[row.server].id;
  }
  return laneName(data, row.lane);
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

// paintFaultBands hatches a fault on the lanes that it hits. On other lanes all faults at a time are one faint band.
function paintFaultBands(c, data, view, at, shown, below) {
  let painted = at.left;
  for (const f of data.faults) {
    if (f.to < view.from || f.from > view.to) continue;
    const x = Math.max(at.left, at.x(f.from)), end = Math.max(x + 1, Math.min(at.width, at.x(f.to)));
    for (const row of shown) {
      c.fillStyle = palette.fault;
      if (row.type !== 'lane' || !hits(f, row.lane)) {
        c.globalAlpha = 0.06;
        if (row.type !== 'server' && end > painted) c.fillRect(Math.max(x, painted), below(row), end - Math.max(x, painted), row.h);
        continue;
      }
      c.globalAlpha = 0.16;
      c.fillRect(x, below(row), end - x, row.h);
      c.globalAlpha = 0.3;
      c.fillStyle = palette.faultBand;
      c.fillRect(x, below(row), end - x, row.h);
    }
    painted = Math.max(painted, end);
  }
  c.globalAlpha = 1;
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

