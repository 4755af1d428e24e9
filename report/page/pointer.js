// The pointer: pointing shows a description, dragging pans, the wheel zooms, a click chooses or folds.

function startPointer(data, view, { box, canvas, rowAt, rowName, fold, redraw, go, pan, zoom }) {
  const tip = document.getElementById('tip'), chosen = document.getElementById('chosen');

  // under returns the thing at a point of the canvas.
  function under(x, y) {
    const at = layOut(data, view, box.clientWidth), near = 3 / at.scale, t = at.time(x), found = [];
    if (x < at.left) return y < at.top || !rowAt(y) ? found : [{ head: rowName(rowAt(y)), lines: [] }];
    const faultAt = (f) => f.from - near <= t && f.to + near >= t;
    if (y < at.top) {
      if (y < frame.overview + frame.ruler) return found;
      for (const f of data.faults) if (faultAt(f) && y >= faultTop(data, f) && y < faultTop(data, f) + data.faultRows.height) found.push(describeFault(data, f));
      return few(found);
    }
    const row = rowAt(y);
    if (!row) return found;
    if (row.type === 'server') return few(describeServer(data, row, t, near));
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
    } catch { /* the pointer is gone already */ }
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
}

// few returns the first descriptions, and the number of the others.
function few(all) { return all.length > 4 ? [...all.slice(0, 4), { head: `and ${all.length - 4} more: zoom in`, lines: [] }] : all; }
