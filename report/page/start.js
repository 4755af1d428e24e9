// The page starts here.

// Colors: light or dark, as the system. The reader's choice is stored if the browser lets a file store data.
function startTheme(changed) {
  const button = document.getElementById('theme'), root = document.documentElement;
  const names = { '': 'as the system', light: 'light', dark: 'dark' }, order = ['', 'light', 'dark'];
  let theme = '';
  try {
    theme = localStorage.getItem('zkverify-colors') || '';
  } catch { /* then the choice is not stored */ }
  if (!(theme in names)) theme = '';
  const apply = () => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    button.textContent = 'Colors: ' + names[theme];
    button.setAttribute('aria-label', button.textContent);
    readPalette();
    changed();
  };
  button.addEventListener('click', () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    try {
      localStorage.setItem('zkverify-colors', theme);
    } catch { /* as above */ }
    apply();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  apply();
}

let repaint = () => {};
startTheme(() => repaint());
unpack().then((data) => {
  performance.mark('unpacked');
  const timeline = startTimeline(data);
  const latency = startLatency(data, timeline);
  startEvents(data, timeline);
  startLink(data, timeline);
  startFind(data, timeline);
  repaint = () => {
    timeline.legend();
    timeline.redraw();
    latency.redraw();
  };
  // A violation that a link names is unfolded.
  const open = () => {
    for (let e = document.getElementById(location.hash.slice(1)); e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  };
  addEventListener('hashchange', open);
  open();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark('ready');
    document.documentElement.dataset.ready = 'yes';
  }));
}).catch((error) => {
  const failed = document.getElementById('failed');
  failed.hidden = false;
  failed.textContent = 'The timeline cannot be shown. ' + error.message;
  document.documentElement.dataset.ready = 'failed';
  console.error(error);
});
