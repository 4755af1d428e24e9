// Descriptions of bars, faults and violations. Text is only set as text, never as HTML: a history may hold any text.

const kindNames = ['waits', 'waits in vain', 'no answer', 'holds', 'holds again', 'suspended', 'told of the loss', 'releases', 'inside', '', 'too short to tell apart', 'believes that it holds'];

function tokenText(b, i) {
  if (!b.high[i] && !b.low[i] && !b.sub[i]) return '';
  const high = b.high[i] ? b.high[i].toString(16) : '';
  const low = b.low[i].toString(16);
  return '0x' + (high ? high + low.padStart(8, '0') : low) + (b.sub[i] ? '/' + b.sub[i] : '');
}

// describeBar returns a heading and lines.
function describeBar(data, i, lock) {
  const b = data.bars, k = b.kind[i], f = b.flags[i];
  const mode = f & flag.read ? ' to read' : f & flag.write ? ' to write' : '';
  const op = data.texts[b.op[i]];
  if (k === kind.many) {
    return { head: `${b.amount[i]} waits and holds of ${data.locks[lock].name}, too short to tell apart here`, lines: [`${seconds(b.from[i])} to ${seconds(b.to[i])}, held for about ${b.place[i]} % of it`] };
  }
  const what = k === kind.other ? op : kindNames[k] + mode + (isWait(k) || k === kind.releasing ? ` (${op})` : '');
  const lines = [];
  const owner = data.texts[b.owner[i]];
  if (owner) lines.push('owner ' + owner);
  const token = tokenText(b, i);
  if (token) lines.push('token ' + token);
  if (k === kind.held || k === kind.stale) {
    lines.push('depth 1' + (b.amount[i] ? `, ${b.amount[i]} permits` : ''));
  } else if (k === kind.heldAgain) {
    lines.push('depth ' + b.amount[i]);
  } else if (b.amount[i]) {
    const names = { 'set-size': 'size ', enter: 'round ', leave: 'round ' };
    lines.push(names[op] ? names[op] + b.amount[i] : b.amount[i] + ' permits');
  }
  if (b.place[i] && isWait(k)) lines.push(b.place[i] === 1 ? 'first in the queue' : `${b.place[i] - 1} ahead in the queue`);
  const session = data.texts[b.session[i]];
  if (session) lines.push('session ' + session);
  lines.push(f & flag.open ? `from ${seconds(b.from[i])}, still so at the end` : `${seconds(b.from[i])} to ${seconds(b.to[i])}, ${span(b.to[i] - b.from[i])}`);
  if (data.started) lines.push('from ' + new Date(data.started + b.from[i] / 1e6).toISOString().replace('T', ' ').replace('Z', ' UTC'));
  const note = data.texts[b.note[i]];
  if (note) lines.push(note);
  return { head: `${actor(data, b.process[i])} ${what}: ${data.locks[lock].name}`, lines };
}

function describeFault(data, f) {
  const hit = f.lanes ? [...new Set(f.lanes)].map((l) => laneName(data, l)).join(', ') : 'everybody';
  const lines = [f.open ? `from ${seconds(f.from)}, never healed` : `${seconds(f.from)} to ${seconds(f.to)}, ${span(f.to - f.from)}`, 'hits ' + hit];
  for (const [name, value] of Object.entries(f.params || {})) lines.push(name + ' ' + value);
  return { head: 'fault ' + faultName(f), lines };
}

function describeMark(m) { return { head: m.w, lines: [seconds(m.t)] }; }

// show puts descriptions into an element.
function show(element, descriptions) {
  element.replaceChildren(...descriptions.map((d) => {
    const block = document.createElement('div');
    const head = document.createElement('strong');
    head.textContent = d.head;
    block.append(head, d.lines.join(' · '));
    return block;
  }));
}

function sentence(d) { return d.head + ': ' + d.lines.join(', '); }
