// The address of the timeline's view, after the #: violation=3, t=1.05-1.07 (in seconds), lock=orders, joined by &. The page
// keeps its address up to date, so that it can be passed on.

function startLink(data, timeline) {
  const violationOf = (link) => Number(link.get('violation')) - 1;

  // follow shows the view that the address names, if it names one.
  function follow() {
    const link = new URLSearchParams(location.hash.slice(1));
    const [, from, to] = /^([\d.]+)-([\d.]+)$/.exec(link.get('t') || '') || [];
    const lock = link.has('lock') ? data.locks.findIndex((l) => l.name === link.get('lock')) : -1;
    const violation = data.witnesses[violationOf(link)] ? violationOf(link) : -1, stretch = Number(to) > Number(from);
    if (violation < 0 && !stretch && lock < 0) return false;
    timeline.choose(lock);
    if (violation >= 0) timeline.violate(violation);
    else timeline.letGo();
    if (stretch) timeline.go(Number(from) * 1e9, Number(to) * 1e9);
    else if (violation < 0) timeline.go(0, data.end);
    timeline.enter();
    return true;
  }

  function linkTo(view) {
    const parts = [], framed = view.violation >= 0 ? frameOf(data, data.witnesses[view.violation]) : { from: 0, to: data.end };
    const near = (view.to - view.from) / 1000;
    if (view.lock >= 0) parts.push('lock=' + encodeURIComponent(data.locks[view.lock].name));
    if (view.violation >= 0) parts.push(`violation=${view.violation + 1}`);
    if (Math.abs(view.from - framed.from) > near || Math.abs(view.to - framed.to) > near) {
      const digits = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10((view.to - view.from) / 1e9))));
      const text = (t) => String(Number((Math.min(Math.max(t, 0), data.end) / 1e9).toFixed(digits)));
      if (Number(text(view.to)) > Number(text(view.from))) parts.push(`t=${text(view.from)}-${text(view.to)}`);
    }
    return parts.join('&');
  }

  if (!follow() && data.witnesses.length) timeline.violate(0);
  let last = linkTo(timeline.view), waiting = 0;
  timeline.changed((view) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const now = linkTo(view);
      if (now === last) return;
      last = now;
      try {
        history.replaceState(null, '', '#' + (now || 'timeline'));
      } catch { /* some browsers forbid a page to change its address: then it stays */ }
    }, 250);
  });
  addEventListener('hashchange', () => {
    if (follow()) last = linkTo(timeline.view);
  });
}
