// The chosen violation, enlarged, where it is too short to be seen in the view.

const leastSeen = 12; // pixels

function paintOverlap(data, view, rows, width) {
  const figure = document.getElementById('overlap'), w = data.witnesses[view.violation], mine = [];
  let height = 0;
  for (const row of rows) {
    if (!row.pinned || row.type === 'why') continue;
    mine.push({ ...row, y: height });
    height += row.h;
  }
  figure.hidden = !mine.length || w.to <= w.from || w.to < view.from || w.from > view.to || (w.to - w.from) * layOut(data, view, width).scale >= leastSeen;
  if (figure.hidden) return;
  const length = w.to - w.from, near = { ...view, ...within(data, w.from - length, w.to + length), row: null, bar: -1 };
  document.getElementById('overlap-says').textContent = `The violation, ${span(length)}, enlarged`;
  paint(data, near, mine, document.getElementById('enlarged'), width, layOut(data, near, width).top + height, 0);
}
