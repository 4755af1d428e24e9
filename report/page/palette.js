// Colors come from the style sheet, so that light and dark are decided in one place. Bars differ in height and pattern too,
// so that readers need not distinguish hues.

const palette = {};

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['page', 'ink', 'quiet', 'line', 'panel', 'bad', 'bad-page', 'open', 'hold', 'hold-edge', 'hold-ink', 'again', 'wait', 'wait-edge', 'vain', 'fault', 'event', 'focus', 'good', 'lead']) {
    palette[name] = style.getPropertyValue('--' + name).trim();
  }
  palette.strokes = hatch(palette['open'], palette.page, false);
  palette.cross = hatch(palette.vain, palette.page, true);
  palette.stale = hatch(palette.bad, palette['bad-page'], false, 9, 2.4);
  palette.sparse = hatch(palette.vain, null, false);
  palette.faultBand = hatch(palette.fault, null, false, 8);
}

// hatch returns a pattern of slanted lines, crossed or not.
function hatch(color, ground, crossed, size = 6, line = 1.4) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const c = tile.getContext('2d');
  if (ground) {
    c.fillStyle = ground;
    c.fillRect(0, 0, size, size);
  }
  c.strokeStyle = color;
  c.lineWidth = line;
  c.beginPath();
  for (const at of [-size, 0, size]) {
    c.moveTo(at, size);
    c.lineTo(at + size, 0);
    if (crossed) {
      c.moveTo(at, 0);
      c.lineTo(at + size, size);
    }
  }
  c.stroke();
  return c.createPattern(tile, 'repeat');
}

// sizeTo sets the size of a canvas, in pixels of the page, and returns its drawing context.
function sizeTo(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  const w = Math.round(width * dense), h = Math.round(height * dense);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const c = canvas.getContext('2d');
  c.setTransform(dense, 0, 0, dense, 0, 0);
  c.clearRect(0, 0, width, height);
  return c;
}

// fit shortens a text to a width.
function fit(c, text, width) {
  if (c.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (c.measureText(text.slice(0, middle) + '…').width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + '…' : '';
}

function seconds(ns, digits = 6) { return (ns / 1e9).toFixed(digits) + ' s'; }

// span prints a duration, to four digits.
function span(ns) {
  const digits = (v) => String(Number(v.toPrecision(4)));
  if (ns < 1e3) return digits(ns) + ' ns';
  if (ns < 1e6) return digits(ns / 1e3) + ' µs';
  if (ns < 1e9) return digits(ns / 1e6) + ' ms';
  return digits(ns / 1e9) + ' s';
}
