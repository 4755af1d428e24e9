// A lane for each server: its states as it reported them, and the faults that hit it.

const stateNames = { leader: 'leader', follower: 'follower', observer: 'observer', standalone: 'serves alone', electing: 'electing: serves no client', down: 'down', silent: 'does not answer' };

// serverText returns the state of a server, and the version that it runs if servers run different versions.
function serverText(data, span) {
  const text = stateNames[span.state] || span.state;
  return data.versions && span.version ? `${text}, ${span.version}` : text;
}

function paintServer(c, data, view, at, row, y) {
  const server = data.servers[row.server], top = y + 2, h = row.h - 4, taken = [];
  c.font = '11px' + fontFamily;
  const inView = (s) => s.to >= view.from && s.from <= view.to;
  const spans = server.spans.filter(inView), faults = data.faults.filter((f) => f.servers && f.servers.includes(server.id) && inView(f));
  for (const s of spans) {
    const x = Math.max(at.left - 2, at.x(s.from)), end = Math.min(at.width + 2, at.x(s.to));
    paintState(c, s.state, x, top, Math.max(end - x, 1.5), h);
  }
  for (const f of faults) {
    const x = Math.max(at.left, at.x(f.from)), end = Math.max(x + 2, Math.min(at.width, at.x(f.to)));
    c.fillStyle = palette.faultBand;
    c.fillRect(x, y + 1, end - x, row.h - 2);
    c.strokeStyle = palette.fault;
    c.lineWidth = 1.5;
    c.strokeRect(x + 0.75, y + 1.75, Math.max(0.5, end - x - 1.5), row.h - 3.5);
  }
  // The effect of a fault is written at its end, a state at its beginning, if there is room for both.
  for (const f of faults) {
    const x = Math.max(at.left, at.x(f.from)), end = Math.min(at.width, at.x(f.to)), width = c.measureText(f.does).width;
    if (end - x > width + 12) paintWord(c, f.does, end - width - 5, end, top + h / 2, taken);
  }
  for (const s of spans) paintWord(c, serverText(data, s), Math.max(at.x(s.from), at.left) + 5, Math.min(at.width, at.x(s.to)) - 4, top + h / 2, taken);
}

// paintWord writes a word that ends before a place, unless it would touch another word.
function paintWord(c, text, x, end, y, taken) {
  const to = x + c.measureText(text).width;
  if (to > end || taken.some((t) => t.x < to + 4 && x < t.to + 4)) return;
  taken.push({ x, to });
  c.fillStyle = palette.page;
  c.fillRect(x - 2, y - 6, to - x + 4, 12);
  c.fillStyle = palette.ink;
  c.fillText(text, x, y + 0.5);
}

// paintState draws the state of a server: a leader is a full bar, a follower a frame, an election hatched, a silent server sparsely so, a server that is down a line.
function paintState(c, state, x, y, w, h) {
  c.lineWidth = 1;
  switch (state) {
    case 'leader': case 'standalone':
      c.fillStyle = palette.lead;
      c.fillRect(x, y, w, h);
      break;
    case 'follower': case 'observer':
      c.strokeStyle = palette.good;
      c.strokeRect(x + 0.5, y + 0.5, Math.max(0.5, w - 1), h - 1);
      break;
    case 'electing':
      c.fillStyle = palette.strokes;
      c.fillRect(x, y, w, h);
      break;
    case 'silent':
      c.fillStyle = palette.sparse;
      c.fillRect(x, y, w, h);
      break;
    case 'down':
      c.fillStyle = palette.bad;
      c.fillRect(x, y + h / 2 - 1, w, 2);
      break;
  }
}

function describeServer(data, row, t, near) {
  const server = data.servers[row.server], found = [];
  const s = server.spans.find((s) => s.from <= t && s.to >= t);
  if (s) found.push({ head: `server ${server.id}: ${serverText(data, s)}`, lines: [`${seconds(s.from)} to ${seconds(s.to)}, ${span(s.to - s.from)}, as it was asked now and then`] });
  for (const f of data.faults) if (f.servers && f.servers.includes(server.id) && f.from - near <= t && f.to + near >= t) found.push(describeFault(data, f));
  return found;
}
