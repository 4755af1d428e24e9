// Latency over time: median, 99th percentile and the longest, on a scale of powers of ten. Lines differ in width and dashes.

function startLatency(data, timeline) {
  const box = document.getElementById('chart');
  if (!box || !data.latency.length) return { redraw() {} };
  const canvas = document.getElementById('curve'), reading = document.getElementById('reading'), choice = document.getElementById('operation');
  data.latency.forEach((s, i) => choice.add(new Option(s.op, String(i))));
  const acquire = data.latency.findIndex((s) => s.op === 'acquire');
  choice.value = String(Math.max(0, acquire));
  const lines = [['max', 'max', 'ink', [1.5, 3], 1.2], ['p99', 'p99', 'wait-edge', [7, 3], 1.8], ['p50', 'p50', 'hold', [], 2.2]];
  let view = { from: 0, to: data.end }, cursor = -1;

  function redraw() {
    const s = data.latency[Number(choice.value)], width = box.clientWidth, height = box.clientHeight;
    const c = sizeTo(canvas, width, height), left = 62, right = 72, top = 12, bottom = 26;
    const x = (t) => left + (t / data.end) * (width - left - right);
    let low = Infinity, high = 0;
    s.n.forEach((n, i) => {
      if (!n) return;
      low = Math.min(low, Math.max(s.p50[i], 1));
      high = Math.max(high, s.max[i]);
    });
    low = 10 ** Math.floor(Math.log10(low));
    high = 10 ** Math.ceil(Math.log10(Math.max(high, low * 10)));
    const y = (v) => top + (1 - Math.log10(Math.max(v, low) / low) / Math.log10(high / low)) * (height - top - bottom);
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    // Faults, and what the timeline shows.
    c.fillStyle = palette.fault;
    c.globalAlpha = 0.08;
    for (const f of data.faults) c.fillRect(x(f.from), top, Math.max(1, x(f.to) - x(f.from)), height - top - bottom);
    c.globalAlpha = 1;
    for (let v = low; v <= high; v *= 10) {
      c.fillStyle = palette.line;
      c.fillRect(left, y(v), width - left - right, 1);
      c.fillStyle = palette.quiet;
      c.textAlign = 'right';
      c.fillText(span(v), left - 6, y(v));
    }
    c.textAlign = 'center';
    const step = niceStep(data.end / Math.max(2, (width - left - right) / 110));
    for (let t = 0; t <= data.end; t += step) c.fillText(seconds(t, Math.max(0, -Math.floor(Math.log10(step / 1e9)))), x(t), height - bottom / 2);
    c.textAlign = 'left';
    if (view.to - view.from < data.end * 0.99) {
      c.strokeStyle = palette.ink;
      c.lineWidth = 1.5;
      c.strokeRect(x(Math.max(0, view.from)), top, Math.max(2, x(Math.min(data.end, view.to)) - x(Math.max(0, view.from))), height - top - bottom);
    }
    lines.forEach(([key, name, color, dash, thick], i) => {
      c.strokeStyle = palette[color];
      c.lineWidth = thick;
      c.setLineDash(dash);
      c.beginPath();
      let pen = false;
      s.n.forEach((n, i) => {
        if (!n) {
          pen = false;
          return;
        }
        const a = x(i * s.width), b = x(Math.min((i + 1) * s.width, data.end));
        if (pen) c.lineTo(a, y(s[key][i]));
        else c.moveTo(a, y(s[key][i]));
        c.lineTo(b, y(s[key][i]));
        pen = true;
      });
      c.moveTo(width - right + 6, top + 10 + 18 * i);
      c.lineTo(width - right + 30, top + 10 + 18 * i);
      c.stroke();
      c.setLineDash([]);
      c.fillStyle = palette.ink;
      c.fillText(name, width - right + 36, top + 10 + 18 * i);
    });
    if (cursor >= 0) {
      c.fillStyle = palette.focus;
      c.fillRect(x((cursor + 0.5) * s.width), top, 1.5, height - top - bottom);
    }
  }

  const about = (ns) => span(Number(ns.toPrecision(2)));
  function read(slot) {
    const s = data.latency[Number(choice.value)];
    cursor = Math.max(0, Math.min(s.n.length - 1, slot));
    const at = `${s.op}, ${seconds(cursor * s.width, 2)} to ${seconds((cursor + 1) * s.width, 2)}: `;
    reading.textContent = at + (s.n[cursor] ? `${s.n[cursor]} went well, p50 about ${about(s.p50[cursor])}, p99 about ${about(s.p99[cursor])}, max ${span(s.max[cursor])}` : 'none went well');
    redraw();
  }
  const slotAt = (e) => {
    const edge = canvas.getBoundingClientRect(), s = data.latency[Number(choice.value)];
    return Math.floor((((e.clientX - edge.left - 62) / (edge.width - 134)) * data.end) / s.width);
  };
  const goTo = () => {
    const s = data.latency[Number(choice.value)];
    if (cursor >= 0) timeline.go((cursor - 1) * s.width, (cursor + 2) * s.width);
  };
  canvas.addEventListener('pointermove', (e) => read(slotAt(e)));
  canvas.addEventListener('click', (e) => {
    read(slotAt(e));
    goTo();
  });
  box.addEventListener('keydown', (e) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1 };
    if (e.key === 'Enter') goTo();
    else if (moves[e.key]) read(cursor + moves[e.key]);
    else return;
    e.preventDefault();
  });
  choice.addEventListener('change', () => {
    cursor = -1;
    reading.textContent = 'Point at the chart for its figures; click, and the timeline goes there.';
    redraw();
  });
  reading.textContent = 'Point at the chart for its figures; click, and the timeline goes there. Keys: ← → and Enter.';
  timeline.changed((v) => {
    view = v;
    redraw();
  });
  new ResizeObserver(redraw).observe(box);
  return { redraw };
}
