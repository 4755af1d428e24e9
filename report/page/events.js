// The list of the events of sessions, servers and leases, shown page by page.

const sorts = [
  ['faults', 'faults', ['fault-start', 'fault-stop']],
  ['servers', 'what servers were found to be', ['server']],
  ['sessions', 'ends of sessions', ['expired']],
  ['leases', 'lost, suspended, resumed', ['lost', 'suspended', 'resumed']],
  ['others', 'crashes, closed clients and what was not answered', ['crash', 'closing', 'closed', 'info']],
  ['run', 'phases, census, requests to release', ['phase', 'census', 'revoke-requested']],
  ['says', 'what locks say of themselves', ['says'], 'off'], // off at first: their number would hide the other events
];
const mostListed = 200;

function startEvents(data, timeline) {
  const list = document.getElementById('list'), count = document.getElementById('count'), follow = document.getElementById('follow');
  const shown = new Set(sorts.flatMap(([, , types, off]) => (off ? [] : types)));
  let view = { from: 0, to: data.end }, last = '';
  for (const [id, text, types, off] of sorts) {
    const label = document.createElement('label'), box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = !off;
    box.id = 'sort-' + id;
    const n = data.marks.filter((m) => types.includes(m.y)).length;
    label.append(box, ` ${text} (${n})`);
    box.addEventListener('change', () => {
      for (const t of types) box.checked ? shown.add(t) : shown.delete(t);
      fill();
    });
    document.getElementById('sorts').append(label);
  }

  function fill() {
    const all = data.marks.filter((m) => shown.has(m.y) && (!follow.checked || (m.t >= view.from && m.t <= view.to)));
    const few = all.slice(0, mostListed), now = few.map((m) => m.l).join() + '/' + all.length;
    if (now === last) return;
    last = now;
    list.replaceChildren(...few.map((m) => {
      const row = document.createElement('tr'), cells = [0, 1, 2].map(() => row.appendChild(document.createElement('td')));
      const jump = document.createElement('button');
      jump.type = 'button';
      jump.className = 'time';
      jump.textContent = seconds(m.t);
      jump.setAttribute('aria-label', seconds(m.t) + ', show in the timeline');
      jump.addEventListener('click', () => {
        const half = Math.min((view.to - view.from) / 2, 5e8);
        follow.checked = false;
        timeline.go(m.t - half, m.t + half);
        document.getElementById('timeline').scrollIntoView();
      });
      cells[0].append(jump);
      cells[1].textContent = m.w;
      cells[2].textContent = m.l || '';
      cells[2].className = 'number';
      return row;
    }));
    const more = all.length > mostListed ? `, the first ${mostListed} are listed: zoom in for the others` : '';
    const missing = data.unmarked ? `; ${data.unmarked} more of the run are not in this report, see the history` : '';
    count.textContent = `${all.length} events${more}${missing}`;
  }
  follow.addEventListener('change', fill);
  let waiting = 0;
  timeline.changed((v) => {
    view = v;
    clearTimeout(waiting);
    waiting = setTimeout(fill, 100);
  });
  fill();
}
