// The search field: a process, a client, a lock, a session, an owner, a token, or a text of an event, such as a node.

// findAll returns the places of a text, those whose whole name it is first: locks, lanes, bars, events.
function findAll(data, text) {
  const wanted = text.trim().toLowerCase(), exact = [], rest = [];
  if (!wanted) return [];
  const meets = (name, place) => {
    const at = name.toLowerCase();
    if (at === wanted) exact.push(place);
    else if (at.includes(wanted)) rest.push(place);
    return at.includes(wanted);
  };
  const used = new Map(), b = data.bars;
  for (const t of data.tracks) {
    if (!used.has('lock' + t.lock)) meets(data.locks[t.lock].name, { lock: t.lock });
    used.set('lock' + t.lock, true);
    if (used.has(t.lane)) continue;
    used.set(t.lane, t);
    [...new Set([laneName(data, t.lane), ...(data.names ? [] : data.lanes[t.lane].map((p) => 'process ' + p))])].some((name) => meets(name, { track: t }));
  }
  const texts = data.texts.map((s) => s.toLowerCase()), number = /^0x[0-9a-f/]+$/.test(wanted);
  const whole = new Set(), part = new Set();
  texts.forEach((s, i) => s === wanted ? whole.add(i) : s.includes(wanted) && part.add(i));
  for (const track of data.tracks) {
    for (let i = track.first; i < track.end; i++) {
      const of = [b.owner[i], b.session[i], b.note[i]], token = number ? tokenText(b, i) : '';
      if (of.some((n) => whole.has(n)) || number && token === wanted) exact.push({ track, bar: i });
      else if (of.some((n) => part.has(n)) || number && token.startsWith(wanted)) rest.push({ track, bar: i });
    }
  }
  for (const m of data.marks) meets(m.w, { track: used.get(m.p), time: m.t });
  return [...exact, ...rest];
}

function startFind(data, timeline) {
  const field = document.getElementById('find'), found = document.getElementById('found');
  let places = [], at = -1, last = '';
  function step(by) {
    if (field.value !== last) {
      last = field.value;
      places = findAll(data, last);
      at = by > 0 ? -1 : 0;
    }
    if (!places.length) {
      found.textContent = last.trim() ? 'not found' : '';
      return;
    }
    at = (at + by + places.length) % places.length;
    found.textContent = `${at + 1} of ${places.length}`;
    timeline.point(places[at]);
  }
  field.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') {
      e.preventDefault();
      step(e.shiftKey ? -1 : 1);
    } else if (e.key === 'Escape') {
      field.value = '';
      step(1);
      field.blur();
    }
  });
  field.addEventListener('input', () => found.textContent = '');
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.key !== '/' || e.target.closest('input, select, textarea')) return;
    e.preventDefault();
    field.focus();
    field.select();
  });
}
