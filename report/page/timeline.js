// The timeline: its view, and the ways to move it.

function startTimeline(data) {
  const box = document.getElementById('lanes'), canvas = document.getElementById('picture'), room = document.getElementById('room');
  const chosen = document.getElementById('chosen'), now = document.getElementById('now'), range = document.getElementById('range');
  const lanes = data.tracks.length;
  const view = { from: 0, to: data.end, violation: -1, lock: -1, folded: new Set(), unfold: false, apart: true, row: null, bar: -1 };
  const listeners = [];
  let rows, tall = 0, wide = 0, asked = false;

  data.marksOf = new Map();
  for (const m of data.marks) {
    if (m.p < 0 || (m.y !== 'expired' && m.y !== 'crash')) continue;
    if (!data.marksOf.has(m.p)) data.marksOf.set(m.p, []);
    data.marksOf.get(m.p).push(m);
  }
  data.faultRows = stackFaults(data.faults);
  // With many lanes only the rows of locks are shown, as an overview; with few lanes all rows are.
  view.unfold = lanes <= 60 || new Set(data.tracks.map((t) => t.lock)).size === 1;

  function layRows() {
    const before = view.row;
    const w = data.witnesses[view.violation];
    rows = makeRows(data, view, w ? linesOf(canvas.getContext('2d'), data, w, box.clientWidth) : 0);
    view.row = before && rows.find((r) => r.type === before.type && r.lock === before.lock && r.lane === before.lane && r.server === before.server && !r.pinned === !before.pinned) || null;
    const full = layOut(data, view, box.clientWidth).top + rows.height;
    // The picture is as high as the box, or less if all rows fit into less.
    box.classList.remove('short');
    tall = Math.min(full, box.clientHeight);
    box.classList.toggle('short', full < box.clientHeight);
    room.style.height = full - tall + 'px';
    unfold.setAttribute('aria-pressed', String(view.violation >= 0 ? !view.apart : view.unfold));
    redraw();
  }

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      paint(data, view, rows, canvas, box.clientWidth, tall, box.scrollTop);
      paintOverlap(data, view, rows, box.clientWidth);
      range.textContent = `${seconds(view.from)} – ${seconds(view.to)} (${span(view.to - view.from)})`;
      for (const f of listeners) f(view);
    });
  }

  // go shows a stretch of time, as far as it lies within the run.
  function go(from, to) {
    Object.assign(view, within(data, from, to));
    redraw();
  }
  // zoom zooms in or out around a time: the chosen violation, if it is in view, else the middle.
  function zoom(factor, around) {
    const w = data.witnesses[view.violation], middle = w ? (w.from + w.to) / 2 : -1;
    around ??= w && middle >= view.from && middle <= view.to ? middle : (view.from + view.to) / 2;
    go(around - (around - view.from) * factor, around + (view.to - around) * factor);
  }
  function pan(share) {
    const by = (view.to - view.from) * share;
    go(view.from + by, view.to + by);
  }

  // violate chooses violation n: its lock and its parties are on top, and the view shows the time that explains it.
  function violate(n) {
    const w = data.witnesses[n];
    if (!w) return;
    Object.assign(view, { violation: n, row: null, bar: -1, apart: true, ...frameOf(data, w) });
    view.folded.clear();
    layRows();
    box.scrollTop = 0;
    document.getElementById('tip').hidden = true; // it described the previous view
    const all = data.witnesses.length, more = data.total > all ? ` described here, of ${data.total} in the run` : '';
    const lines = [`Violation ${n + 1} of ${all}${more}: ${w.guarantee}`, ...w.what];
    now.replaceChildren(...lines.map((line) => {
      const p = document.createElement('span');
      p.textContent = line + '. ';
      return p;
    }));
  }
  function letGo() {
    Object.assign(view, { violation: -1, row: null, bar: -1 });
    view.folded.clear();
    now.textContent = '';
    document.getElementById('tip').hidden = true;
    layRows();
  }
  function step(by) {
    const n = data.witnesses.length;
    if (n) violate(view.violation < 0 ? (by > 0 ? 0 : n - 1) : (view.violation + by + n) % n);
  }
  // enter scrolls to the timeline and gives it the keyboard focus.
  function enter() {
    document.getElementById('timeline').scrollIntoView();
    box.focus({ preventScroll: true });
  }

  function rowAt(y) {
    const at = layOut(data, view, box.clientWidth), inside = y - at.top + box.scrollTop;
    return y < at.top ? null : rows.find((r) => inside >= r.y && inside < r.y + r.h) || null;
  }
  function fold(row) {
    if (row.pinned || row.type !== 'lock') return;
    if (!view.folded.delete(row.lock)) view.folded.add(row.lock);
    layRows();
  }

  function rowName(r) {
    const lock = r.lock < 0 ? null : data.locks[r.lock];
    if (r.type === 'why') return now.textContent;
    if (r.type === 'server') return rowLabel(data, r);
    if (r.type === 'lock') return `${lock.recipe} ${lock.name}, ${r.open ? 'open' : 'folded'}, ${r.tracks.length} clients`;
    const processes = data.lanes[r.lane];
    return laneName(data, r.lane) + (processes.length > 1 ? ` (processes ${processes.join(', ')})` : '') + (lock ? ' at ' + lock.name : '');
  }

  // Keys.
  function chooseRow(by) {
    const n = view.row ? rows.indexOf(view.row) + by : 0;
    pick(rows[Math.max(0, Math.min(rows.length - 1, n))]);
  }
  function pick(row) {
    view.row = row || null;
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
    pickBar(all[Math.max(0, Math.min(all.length - 1, n))]);
  }
  function pickBar(i) {
    view.bar = i;
    const b = data.bars;
    if (b.from[i] < view.from || b.from[i] > view.to) {
      const half = (view.to - view.from) / 2;
      go(b.from[i] - half, b.from[i] + half);
    }
    chosen.textContent = sentence(describeBar(data, i, view.row.lock));
    redraw();
  }
  // point shows a place that was searched for: a lock, a lane, a bar, or the time of an event.
  function point({ lock, track, bar, time }) {
    Object.assign(view, { unfold: true, lock: -1 });
    which.value = '-1';
    letGo();
    pick(rows.find((r) => track ? r.type === 'lane' && r.lock === track.lock && r.lane === track.lane : r.type === 'lock' && r.lock === lock));
    if (bar !== undefined) pickBar(bar);
    if (time !== undefined && (time < view.from || time > view.to)) {
      const half = (view.to - view.from) / 2;
      go(time - half, time + half);
    }
    document.getElementById('timeline').scrollIntoView();
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
  document.getElementById('timeline').addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key] || e.target.closest('input') || e.target.closest('select, button') && !(e.key in { '+': 1, '-': 1 })) return;
    e.preventDefault();
    keys[e.key]();
  });
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, select, textarea') || e.key.toLowerCase() !== 'v' || !data.witnesses.length) return;
    e.preventDefault();
    step(e.shiftKey ? -1 : 1);
    enter();
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
    if (view.violation >= 0 && view.apart) Object.assign(view, { apart: false, unfold: true });
    else if (view.violation >= 0) view.apart = true;
    else view.unfold = !view.unfold;
    view.folded.clear();
    layRows();
  });
  for (const id of ['previous', 'next']) document.getElementById(id).disabled = !data.witnesses.length;
  for (const button of document.querySelectorAll('button.show')) {
    button.disabled = false;
    button.addEventListener('click', () => {
      violate(Number(button.dataset.violation));
      enter();
    });
  }
  const which = document.getElementById('which');
  which.add(new Option('all', '-1'));
  const seen = new Set();
  for (const t of data.tracks) {
    if (!seen.has(t.lock)) which.add(new Option(data.locks[t.lock].name, String(t.lock)));
    seen.add(t.lock);
  }
  // choose shows only one lock, with its lanes; -1: all locks.
  function choose(lock) {
    Object.assign(view, { lock, row: null });
    which.value = String(lock);
    box.scrollTop = 0;
    layRows();
    const row = rows.find((r) => r.type === 'lock' && r.lock === lock && !r.pinned);
    if (row && !row.open) fold(row);
  }
  which.addEventListener('change', () => choose(Number(which.value)));

  startPointer(data, view, { box, canvas, rowAt, rowName, fold, redraw, go, pan, zoom });
  makeLegend(data);
  layRows();
  new ResizeObserver((changes) => {
    if (changes[0].contentRect.width !== wide) layRows();
    wide = changes[0].contentRect.width;
  }).observe(box);
  return { view, go, violate, letGo, choose, point, enter, redraw, changed: (f) => listeners.push(f), legend: () => makeLegend(data) };
}

// within returns the part of a stretch of time that can be shown.
function within(data, from, to) {
  const least = Math.min(100, data.end), most = data.end;
  const length = Math.min(Math.max(to - from, least), most);
  const middle = Math.min(Math.max((from + to) / 2, length / 2), data.end - length / 2);
  return { from: middle - length / 2, to: middle + length / 2 };
}

// frameOf returns the stretch of time that explains a violation: from its cause to its end.
function frameOf(data, w) {
  const length = Math.max(w.until - w.since, 1e3), more = length * (w.since < w.from ? 0.15 : 1);
  return within(data, w.since - more, w.until + more);
}
