// The part of the picture that does not scroll: the whole run, the ruler, and the faults.

// paintTop draws the part that does not scroll: the whole run with the view in it, the ruler, and the faults with their names.
function paintTop(c, data, view, at) {
  c.fillStyle = palette.page;
  c.fillRect(0, 0, at.width, at.top);
  c.font = '11px' + fontFamily;
  const wide = at.width - at.left, whole = (t) => at.left + (t / data.end) * wide;
  c.fillStyle = palette.panel;
  c.fillRect(at.left, 1, wide, frame.overview - 3);
  c.fillStyle = palette.fault;
  c.globalAlpha = 0.7;
  for (const f of data.faults) c.fillRect(whole(f.from), frame.overview - 7, Math.max(1, whole(f.to) - whole(f.from)), 4);
  c.globalAlpha = 1;
  c.fillStyle = palette.bad;
  for (const w of data.witnesses) c.fillRect(whole(w.from) - 1, 1, 2.5, frame.overview - 3);
  c.strokeStyle = palette.ink;
  c.lineWidth = 1.5;
  const x = whole(Math.max(0, view.from)), w = Math.max(4, whole(Math.min(data.end, view.to)) - x);
  c.strokeRect(Math.min(x, at.width - 5), 1.5, w, frame.overview - 4);
  // The names come last, so that the frame of the view does not run through them.
  let free = 0;
  for (const p of data.phases) {
    const x = whole(p.from), width = c.measureText(p.name).width;
    c.fillStyle = palette.quiet;
    c.fillRect(x, 1, 1.5, frame.overview - 3);
    if (x < free || x + width + 4 > at.width) continue;
    c.fillStyle = palette.panel;
    c.fillRect(x + 3, 1, width + 2, 12);
    c.fillStyle = palette.ink;
    c.fillText(p.name, x + 4, 7);
    free = x + width + 8;
  }
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
    c.fillRect(at.x(t), y - 6, 1, frame.ruler / 2 + 6);
  }
  for (const p of data.phases) {
    if (p.from < view.from || p.from > view.to) continue;
    c.fillStyle = palette.ink;
    c.fillRect(at.x(p.from) - 0.5, frame.overview, 2, frame.ruler);
  }
  if (data.faults.length) paintFaults(c, data, view, at);
}

// paintFaults draws the faults, each with as much of its name as fits before the next one of its row.
function paintFaults(c, data, view, at) {
  const { height } = data.faultRows;
  c.fillStyle = palette.quiet;
  c.fillText('faults', 8, frame.overview + frame.ruler + 8);
  const next = [], cause = data.witnesses[view.violation]?.fault ?? -1;
  for (let i = data.faults.length - 1; i >= 0; i--) {
    const f = data.faults[i], room = next[f.row] ?? at.width;
    next[f.row] = at.x(f.from);
    if (f.to < view.from || f.from > view.to) continue;
    const x = Math.max(at.left, at.x(f.from)), w = Math.max(2, Math.min(at.width, at.x(f.to)) - x), y = faultTop(data, f);
    c.fillStyle = i === cause ? palette.bad : palette.fault;
    c.globalAlpha = 0.25;
    c.fillRect(x, y, w, height - 2);
    c.globalAlpha = 1;
    c.fillRect(x, y, i === cause ? 4 : 2, height - 2);
    // There may be room beside a fault that is too short for its name.
    c.font = (i === cause ? '600 ' : '') + '11px' + fontFamily;
    const text = height < 12 ? '' : faultLabel(c, f, w - 8, room - x - 10);
    if (!text) continue;
    c.fillStyle = i === cause ? palette.bad : palette.ink;
    c.fillText(text, x + 6, y + (height - 2) / 2);
  }
}

// faultLabel returns the name of a fault, with its targets if that fits into its bar or beside it; else as much as fits into the bar.
function faultLabel(c, f, inside, beside) {
  for (const text of [faultName(f), f.name]) if (c.measureText(text).width <= Math.max(inside, beside)) return text;
  return inside > 40 ? fit(c, f.name, inside) : '';
}

function faultTop(data, f) { return frame.overview + frame.ruler + 2 + f.row * data.faultRows.height; }

function faultName(f) { return f.name + (f.targets ? ': ' + f.targets.join(', ') : ''); }

// stackFaults gives each fault a row that it shares with no other fault in force at the same time. With very many faults at a
// time the rows are low, and have no room for names.
function stackFaults(faults) {
  const free = [];
  for (const f of faults) {
    f.row = free.findIndex((until) => until <= f.from);
    if (f.row < 0) f.row = free.length;
    free[f.row] = f.to;
  }
  const height = free.length <= 8 ? frame.fault : Math.max(3, Math.floor((8 * frame.fault) / free.length));
  return { count: free.length, height };
}
