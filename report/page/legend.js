// The legend shows each kind of bar as it is drawn in the lanes.

function makeLegend(data) {
  const legend = document.getElementById('legend');
  const samples = [[kind.waited, 'waits'], [kind.inVain, 'waits in vain'], [kind.unanswered, 'no answer'], [kind.held, 'holds (half as high: to read)'], [kind.heldAgain, 'holds again, deeper'],
    [kind.stale, 'STALE: believes that it holds, though its session is over'], [kind.suspended, 'suspended: the link is down'], [kind.afterLoss, 'told of the loss'], [kind.releasing, 'releases'], [kind.inside, 'inside a barrier'], [kind.other, 'another operation'], ['fault', 'fault, on those hit'], ['expired', 'session ended'], ['crash', 'crash'], ['violation', 'violation'],
    ...(data.servers.length ? [['leader', 'server leads'], ['follower', 'follows'], ['electing', 'elects: serves no client'], ['silent', 'does not answer'], ['down', 'is down'], ['hit', 'fault on a server']] : [])];
  const recorded = [kind.waited, kind.inVain, kind.unanswered, kind.held, 'expired'];
  if (data.names) samples.splice(0, samples.length, ...[...samples.filter(([k]) => recorded.includes(k))].map(([k, text]) => [k, { [kind.inVain]: 'gave up', [kind.unanswered]: 'still waits at the end', expired: 'lost: expired, or deleted by another session' }[k] || text]));
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
    } else if (k === 'hit') {
      c.fillStyle = palette.faultBand;
      c.fillRect(1, 1, 32, 14);
      c.strokeStyle = palette.fault;
      c.lineWidth = 1.5;
      c.strokeRect(1.75, 1.75, 30.5, 12.5);
    } else if (stateNames[k]) {
      paintState(c, k, 2, 2, 30, 12);
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
