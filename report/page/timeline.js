// The timeline: what is in view, and how one moves in it.

function startTimeline(data) {
  const box = document.getElementById('lanes'), canvas = document.getElementById('picture'), room = document.getElementById('room');
  const tip = document.getElementById('tip'), chosen = document.getElementById('chosen'), now = document.getElementById('now'), range = document.getElementById('range');
  const lanes = data.tracks.length;
  const view = { from: 0, to: data.end, violation: -1, lock: -1, folded: new Set(), unfold: false, row: null, bar: -1 };
  const listeners = [];
  let rows, tall = 0, wide = 0, asked = false;

  data.marksOf = new Map();
  for (const m of data.marks) {
    if (m.p < 0 || (m.y !== 'expired' && m.y !== 'crash')) continue;
    if (!data.marksOf.has(m.p)) data.marksOf.set(m.p, []);
    data.marksOf.get(m.p).push(m);
  }
  stackFaults(data.faults);
  // With many lanes it is the locks that give the overview; with few all is shown.
  view.unfold = lanes <= 60 || new Set(data.tracks.map((t) => t.lock)).size === 1;

  function layRows() {
    const before = view.row;
    rows = makeRows(data, view);
    view.row = before && rows.find((r) => r.type === before.type && r.lock === before.lock && r.lane === before.lane && !r.pinned === !before.pinned) || null;
    const full = layOut(data, view, box.clientWidth).top + rows.height;
    // The picture is as high as the box, unless all rows need less.
    box.classList.remove('short');
    tall = Math.min(full, box.clientHeight);
    box.classList.toggle('short', full < box.clientHeight);
    room.style.height = full - tall + 'px';
    unfold.setAttribute('aria-pressed', String(view.unfold));
    redraw();
  }

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      paint(data, view, rows, canvas, box.clientWidth, tall, box.scrollTop);
      range.textContent = `${seconds(view.from)} – ${seconds(view.to)} (${span(view.to - view.from)})`;
      for (const f of listeners) f(view);
    });
  }

  // go shows a stretch of time, as far as there is one.
  function go(from, to) {
    const least = Math.min(100, data.end), most = data.end * 1.04;
    let length = Math.min(Math.max(to - from, least), most);
    let middle = (from + to) / 2;
    middle = Math.min(Math.max(middle, -0.02 * data.end + length / 2), 1.02 * data.end - length / 2);
    view.from = middle - length / 2;
    view.to = middle + length / 2;
    redraw();
  }
  function zoom(factor, around = (view.from + view.to) / 2) {
    go(around - (around - view.from) * factor, around + (view.to - around) * factor);
  }
  function pan(share) {
    const by = (view.to - view.from) * share;
    go(view.from + by, view.to + by);
  }

  // violate looks at violation n: its lock and its parties are on top, and it is in the middle.
  function violate(n) {
    const w = data.witnesses[n];
    if (!w) return;
    view.violation = n;
    view.row = null;
    view.bar = -1;
    const length = Math.max(w.to - w.from, 1e3);
    go(w.from - length * 1.5, w.to + length * 1.5);
    layRows();
    box.scrollTop = 0;
    now.textContent = `Violation ${n + 1} of ${data.witnesses.length}: ${w.guarantee}. ${w.what}.`;
  }
  function letGo() {
    view.violation = -1;
    view.row = null;
    view.bar = -1;
    now.textContent = '';
    tip.hidden = true;
    layRows();
  }
  function step(by) {
    const n = data.witnesses.length;
    if (n) violate(view.violation < 0 ? (by > 0 ? 0 : n - 1) : (view.violation + by + n) % n);
  }

  // under returns what is at a point of the canvas.
  function under(x, y) {
    const at = layOut(data, view, box.clientWidth), near = 3 / at.scale, t = at.time(x), found = [];
    if (x < at.left) return y < at.top || !rowAt(y) ? found : [{ head: rowName(rowAt(y)), lines: [] }];
    const faultAt = (f) => f.from - near <= t && f.to + near >= t;
    if (y < at.top) {
      if (y < frame.overview + frame.ruler) return found;
      for (const f of data.faults) if (faultAt(f) && y >= faultTop(f) && y < faultTop(f) + frame.fault) found.push(describeFault(data, f));
      return found.slice(0, 4);
    }
    const row = rowAt(y);
    if (!row) return found;
    const bars = [];
    for (const track of row.tracks) {
      for (let i = firstBar(data, track, t - near); i < track.end && data.bars.from[i] <= t + near; i++) {
        if (data.bars.to[i] < t - near || (row.type === 'lock' && !together(data, row)(data.bars.kind[i]))) continue;
        bars.push([Math.max(data.bars.from[i] - t, t - data.bars.to[i], 0), data.bars.to[i] - data.bars.from[i], i, track.lock]);
      }
    }
    bars.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [, , i, lock] of bars.slice(0, 4)) found.push(describeBar(data, i, lock));
    if (bars.length > 4) found.push({ head: `and ${bars.length - 4} more: zoom in`, lines: [] });
    if (row.type === 'lane') {
      for (const m of data.marksOf.get(row.lane) || []) if (Math.abs(m.t - t) <= 2 * near) found.push(describeMark(m));
      const over = data.faults.filter((f) => faultAt(f) && hits(f, row.lane));
      if (over.length) found.push({ head: 'under fault ' + over.slice(0, 3).map(faultName).join('; '), lines: over.length > 3 ? [`and ${over.length - 3} more`] : [] });
    }
    return found;
  }
  function rowAt(y) {
    const at = layOut(data, view, box.clientWidth), inside = y - at.top + box.scrollTop;
    return y < at.top ? null : rows.find((r) => inside >= r.y && inside < r.y + r.h) || null;
  }
  function hover(e) {
    const edge = canvas.getBoundingClientRect();
    const found = under(e.clientX - edge.left, e.clientY - edge.top);
    tip.hidden = !found.length;
    if (!found.length) return;
    show(tip, found);
    const size = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(e.clientX + 14, window.innerWidth - size.width - 8)) + 'px';
    tip.style.top = (e.clientY + 18 + size.height > window.innerHeight ? Math.max(4, e.clientY - size.height - 10) : e.clientY + 18) + 'px';
  }

  // Pointer: dragging pans, a click chooses or folds.
  let drag = null;
  box.addEventListener('pointerdown', (e) => {
    const edge = canvas.getBoundingClientRect();
    if (e.button !== 0 || e.clientX - edge.left > edge.width) return; // the scroll bar
    drag = { x: e.clientX, y: e.clientY, from: view.from, to: view.to, scroll: box.scrollTop, moved: false, overview: e.clientY - edge.top < frame.overview };
    try {
      canvas.setPointerCapture(e.pointerId);
    } catch { /* it is gone already */ }
  });
  canvas.addEventListener('pointermove', (e) => {
    if (!drag) {
      hover(e);
      return;
    }
    if (!drag.moved && Math.hypot(e.clientX - drag.x, e.clientY - drag.y) < 4) return;
    drag.moved = true;
    tip.hidden = true;
    box.classList.add('dragged');
    const at = layOut(data, view, box.clientWidth);
    if (drag.overview) {
      centre(e.clientX);
      return;
    }
    const by = (drag.x - e.clientX) / at.scale;
    go(drag.from + by, drag.to + by);
    box.scrollTop = drag.scroll + drag.y - e.clientY;
  });
  function centre(clientX) {
    const at = layOut(data, view, box.clientWidth), edge = canvas.getBoundingClientRect();
    const t = ((clientX - edge.left - at.left) / (at.width - at.left)) * data.end, half = (view.to - view.from) / 2;
    go(t - half, t + half);
  }
  canvas.addEventListener('pointerup', (e) => {
    const was = drag;
    drag = null;
    box.classList.remove('dragged');
    if (!was || was.moved) return;
    const edge = canvas.getBoundingClientRect(), x = e.clientX - edge.left, y = e.clientY - edge.top;
    if (was.overview) {
      centre(e.clientX);
      return;
    }
    const row = rowAt(y);
    if (row && row.type === 'lock' && x < layOut(data, view, box.clientWidth).left) {
      fold(row);
      return;
    }
    const found = under(x, y);
    if (found.length) chosen.textContent = found.map(sentence).join('\n');
    if (row) {
      view.row = row;
      view.bar = -1;
      redraw();
    }
  });
  canvas.addEventListener('pointercancel', () => {
    drag = null;
    box.classList.remove('dragged');
  });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  box.addEventListener('wheel', (e) => {
    e.preventDefault();
    tip.hidden = true;
    const unit = e.deltaMode === 1 ? 16 : 1;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      pan(((e.deltaX || e.deltaY) * unit) / box.clientWidth);
      return;
    }
    const at = layOut(data, view, box.clientWidth), x = Math.max(at.left, e.clientX - canvas.getBoundingClientRect().left);
    zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY * unit)) / 350), at.time(x));
  }, { passive: false });
  box.addEventListener('scroll', () => { tip.hidden = true; redraw(); });

  function fold(row) {
    if (row.pinned) return;
    if (!view.folded.delete(row.lock)) view.folded.add(row.lock);
    layRows();
  }

  function rowName(r) {
    const lock = r.lock < 0 ? null : data.locks[r.lock];
    if (r.type === 'lock') return `${lock ? lock.recipe + ' ' + lock.name : 'violation'}, ${r.open ? 'open' : 'folded'}, ${r.tracks.length} clients`;
    const processes = data.lanes[r.lane];
    return laneName(data, r.lane) + (processes.length > 1 ? ` (processes ${processes.join(', ')})` : '') + (lock ? ' at ' + lock.name : '');
  }

  // Keys.
  function chooseRow(by) {
    const n = view.row ? rows.indexOf(view.row) + by : 0;
    view.row = rows[Math.max(0, Math.min(rows.length - 1, n))] || null;
    view.bar = -1;
    if (!view.row) return;
    const visible = box.clientHeight - layOut(data, view, box.clientWidth).top;
    if (view.row.y < box.scrollTop) box.scrollTop = view.row.y;
    if (view.row.y + view.row.h > box.scrollTop + visible) box.scrollTop = view.row.y + view.row.h - visible;
    chosen.textContent = rowName(view.row);
    redraw();
  }
  function chooseBar(by) {
    if (!view.row) chooseRow(0);
    const all = [];
    for (const t of view.row ? view.row.tracks : []) {
      for (let i = t.first; i < t.end; i++) if (view.row.type === 'lane' || together(data, view.row)(data.bars.kind[i])) all.push(i);
    }
    if (view.row && view.row.type === 'lock') all.sort((a, b) => data.bars.from[a] - data.bars.from[b]);
    if (!all.length) return;
    let n = all.indexOf(view.bar);
    if (n >= 0) n += by;
    else n = firstAt(all, view.from, (i) => data.bars.from[i]);
    view.bar = all[Math.max(0, Math.min(all.length - 1, n))];
    const b = data.bars, i = view.bar;
    if (b.from[i] < view.from || b.from[i] > view.to) {
      const half = (view.to - view.from) / 2;
      go(b.from[i] - half, b.from[i] + half);
    }
    chosen.textContent = sentence(describeBar(data, i, view.row.lock));
    redraw();
  }
  const keys = {
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '−': () => zoom(2), '0': () => go(0, data.end), Home: () => go(0, data.end),
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), PageUp: () => pan(-0.9), PageDown: () => pan(0.9), ArrowUp: () => chooseRow(-1), ArrowDown: () => chooseRow(1),
    ',': () => chooseBar(-1), '.': () => chooseBar(1), Enter: () => {
      if (!view.row || view.row.type !== 'lock') return;
      fold(view.row);
      chooseRow(0);
    }, Escape: letGo,
  };
  box.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, select, textarea') || e.key.toLowerCase() !== 'v' || !data.witnesses.length) return;
    e.preventDefault();
    step(e.shiftKey ? -1 : 1);
    document.getElementById('timeline').scrollIntoView();
  });

  // Buttons.
  const on = (id, f) => document.getElementById(id).addEventListener('click', f);
  const unfold = document.getElementById('unfold');
  on('zoom-in', () => zoom(0.5));
  on('zoom-out', () => zoom(2));
  on('fit', () => go(0, data.end));
  on('earlier', () => pan(-0.5));
  on('later', () => pan(0.5));
  on('previous', () => step(-1));
  on('next', () => step(1));
  on('unfold', () => {
    view.unfold = !view.unfold;
    view.folded.clear();
    layRows();
  });
  for (const id of ['previous', 'next']) document.getElementById(id).disabled = !data.witnesses.length;
  for (const button of document.querySelectorAll('button.show')) {
    button.disabled = false;
    button.addEventListener('click', () => {
      violate(Number(button.dataset.violation));
      document.getElementById('timeline').scrollIntoView();
      box.focus({ preventScroll: true });
    });
  }
  const which = document.getElementById('which');
  which.add(new Option('all', '-1'));
  const seen = new Set();
  for (const t of data.tracks) {
    if (!seen.has(t.lock)) which.add(new Option(data.locks[t.lock].name, String(t.lock)));
    seen.add(t.lock);
  }
  which.addEventListener('change', () => {
    view.lock = Number(which.value);
    view.row = null;
    box.scrollTop = 0;
    if (view.lock >= 0 && view.folded.has(view.lock) === view.unfold) fold({ lock: view.lock });
    layRows();
  });

  makeLegend();
  layRows();
  new ResizeObserver((changes) => {
    if (changes[0].contentRect.width !== wide) layRows();
    wide = changes[0].contentRect.width;
  }).observe(box);
  return { go, redraw, changed: (f) => listeners.push(f), legend: makeLegend };
}

// makeLegend draws each kind of bar as it is drawn in the lanes.
function makeLegend() {
  const legend = document.getElementById('legend');
  const samples = [[kind.waited, 'waits'], [kind.inVain, 'waits in vain'], [kind.unanswered, 'no answer'], [kind.held, 'holds (half as high: to read)'], [kind.heldAgain, 'holds again, deeper'], [kind.suspended, 'suspended'],
    [kind.afterLoss, 'lost'], [kind.releasing, 'releases'], [kind.inside, 'inside a barrier'], [kind.other, 'another operation'], ['fault', 'fault, on those hit'], ['expired', 'session ended'], ['crash', 'crash'], ['violation', 'violation']];
  legend.replaceChildren(...samples.map(([k, text]) => {
    const item = document.createElement('span'), sample = document.createElement('canvas');
    item.setAttribute('role', 'listitem');
    sample.setAttribute('aria-hidden', 'true');
    const c = sizeTo(sample, 34, 16), at = { left: 0, width: 34 };
    if (k === 'fault') {
      c.globalAlpha = 0.16;
      c.fillStyle = palette.fault;
      c.fillRect(0, 0, 34, 16);
      c.globalAlpha = 0.3;
      c.fillStyle = palette.faultBand;
      c.fillRect(0, 0, 34, 16);
    } else if (k === 'violation') {
      c.strokeStyle = palette.bad;
      c.lineWidth = 3;
      c.strokeRect(2, 2, 30, 12);
    } else if (k === 'expired' || k === 'crash') {
      paintMarks(c, { marksOf: new Map([[0, [{ t: 17, y: k }]]]) }, { from: 0, to: 34 }, { x: (t) => t }, { lane: 0, h: 16 }, 0);
    } else {
      if (k === kind.heldAgain) paintBar(c, kind.held, 0, 2, 30, 1, 14, at);
      paintBar(c, k, 0, 2, 30, 1, 14, at);
    }
    item.append(sample, text);
    return item;
  }));
}
