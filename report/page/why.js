// The places of violations, and the steps that led to the chosen one.

function paintViolations(c, data, view, at, shown, below) {
  data.witnesses.forEach((w, i) => {
    if (w.to < view.from || w.from > view.to) return;
    const x = Math.max(at.left - 2, at.x(w.from)), wide = Math.max(3, Math.min(at.width + 2, at.x(w.to)) - x);
    for (const row of shown) {
      if (row.type === 'why' || row.type === 'server' || row.lock !== w.lock || (row.type === 'lane' && w.lanes.length && !w.lanes.includes(row.lane))) continue;
      c.strokeStyle = palette.bad;
      c.lineWidth = i === view.violation ? 3 : 1.5;
      c.strokeRect(x, below(row) + 1, wide, row.h - 2);
    }
  });
}

// stepsOf returns the steps that led to a violation, the most important first.
function stepsOf(w) {
  const lasts = w.to > w.from ? ` for ${span(w.to - w.from)}` : '';
  const violation = { t: w.from, w: `✗ ${w.guarantee} violated${lasts}`, short: `✗ ${w.guarantee}`, bad: true };
  return [violation, ...[...w.steps].sort((a, b) => Boolean(b.cause) - Boolean(a.cause) || a.t - b.t)];
}

// placeSteps gives each step in view a place beside its line, within the given number of lines of text. A step without room is left out.
function placeSteps(c, steps, view, at, lines) {
  const placed = [];
  for (const step of steps) {
    if (step.t < view.from || step.t > view.to) continue;
    c.font = (step.bad ? '600 ' : '') + '12px' + fontFamily;
    const room = at.width - at.left, text = step.short && c.measureText(step.w).width + 8 > room ? step.short : step.w;
    const width = c.measureText(text).width + 8, x = at.x(step.t);
    // On the right of its line if there is room; else in the nearest room.
    const from = x + 2 + width <= at.width ? x + 2 : x - 2 - width >= at.left ? x - 2 - width : at.width - width;
    if (width > room) continue;
    for (let line = 0; line < lines; line++) {
      if (placed.some((o) => o.line === line && o.from < from + width && from < o.to)) continue;
      placed.push({ step, text, line, font: c.font, from, to: from + width });
      break;
    }
  }
  return placed;
}

// linesOf returns the number of lines of text that the steps need when the frame of the violation is in view.
function linesOf(c, data, w, width) {
  const view = frameOf(data, w), at = layOut(data, view, width);
  return Math.max(1, ...placeSteps(c, stepsOf(w), view, at, 6).map((p) => p.line + 1));
}

// paintWhy writes the steps that led to the violation above the lanes of its parties, each at its time.
function paintWhy(c, data, view, at, rows, below) {
  const w = data.witnesses[view.violation], row = rows[0];
  if (!w || row.type !== 'why') return;
  const last = rows.findLast((r) => r.pinned), y = below(row), foot = below(last) + last.h, steps = stepsOf(w);
  for (const s of steps) {
    if (s.t < view.from || s.t > view.to) continue;
    c.fillStyle = s.bad || s.cause ? palette.bad : palette.quiet;
    c.globalAlpha = s.bad || s.cause ? 1 : 0.6;
    c.fillRect(at.x(s.t) - 0.75, y + 2, 1.5, s.bad ? row.h - 2 : foot - y - 2);
  }
  c.globalAlpha = 1;
  for (const p of placeSteps(c, steps, view, at, Math.floor((row.h - 6) / rowHeight.step))) {
    const top = y + 3 + p.line * rowHeight.step;
    c.fillStyle = palette.page;
    c.fillRect(p.from, top, p.to - p.from, rowHeight.step - 1);
    c.fillStyle = p.step.bad || p.step.cause ? palette.bad : palette.ink;
    c.font = p.font;
    c.fillText(p.text, p.from + 4, top + rowHeight.step / 2);
  }
}
