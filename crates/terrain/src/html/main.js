// Puts the page together and listens: pointer, wheel, keys, search, the size of the window.

const FRAME_MS = 28; // of each frame spent on the layout

function prepare(data) {
  const nodes = data.domains.map((domain) => ({ ...domain, links: [], near: new Set(), lines: 0 }));
  const most = nodes.reduce((max, node) => Math.max(max, node.links_in), 1);
  nodes.forEach((node) => { node.radius = 3.2 + 17 * Math.sqrt(node.links_in / most); });
  const links = data.links.map((link) => ({ ...link, from: nodes[link.from], to: nodes[link.to] }));
  for (const link of links) {
    for (const [end, other] of [[link.from, link.to], [link.to, link.from]]) {
      end.links.push(link);
      end.near.add(other);
      end.lines += 1;
    }
  }
  const ranked = [...nodes].sort((a, b) => b.links_in - a.links_in || (a.name < b.name ? -1 : 1));
  return { nodes, links, ranked };
}

function createApp() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const canvas = document.getElementById('canvas');
  const { nodes, links, ranked } = prepare(data);
  return {
    data, canvas, nodes, links, ranked,
    context: canvas.getContext('2d'),
    theme: readTheme(),
    layout: createLayout(nodes, links),
    view: { k: 1, x: 0, y: 0 },
    colourBy: 'class', hidden: new Set(), selected: null, hover: null, search: '',
    touched: false, // the view was moved by hand
    dirty: true,
  };
}

// One frame: some steps of the layout while it lasts, then a picture if anything changed.
function frame(app) {
  if (!isSettled(app.layout)) {
    const end = performance.now() + FRAME_MS;
    do stepLayout(app.layout); while (!isSettled(app.layout) && performance.now() < end);
    if (!app.touched) fitView(app);
    app.dirty = !app.still || isSettled(app.layout);
    showNote(app);
  }
  if (app.dirty) draw(app);
  app.dirty = false;
  requestAnimationFrame(() => frame(app));
}

function showNote(app) {
  const { domains_left_out: domains, links_left_out: links } = app.data;
  const parts = [`${figure(app.nodes.length)} domains, ${figure(app.links.length)} links between them`];
  if (domains > 0 || links > 0) parts.push(`left out: ${figure(domains)} domains, ${figure(links)} links`);
  if (!isSettled(app.layout)) parts.push('settling …');
  const text = parts.join(' · ');
  const note = document.getElementById('note');
  if (note.textContent !== text) note.textContent = text;
  document.documentElement.dataset.layout = isSettled(app.layout) ? 'settled' : 'settling';
}

function choose(app, node, centre) {
  app.selected = node;
  app.dirty = true;
  if (node && centre) {
    app.touched = true;
    app.view.k = Math.max(app.view.k, 0.8);
    app.view.x = app.width / 2 - node.x * app.view.k;
    app.view.y = app.height / 2 - node.y * app.view.k;
  }
  showDetails(app, (other) => choose(app, other, true));
}

function listen(app) {
  listenToPointer(app);
  listenToKeys(app);
  listenToControls(app);
  new ResizeObserver(() => {
    fitCanvas(app);
    if (!app.touched) fitView(app);
    draw(app);
  }).observe(app.canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    app.theme = readTheme();
    refresh(app);
  });
}

function refresh(app) {
  showLegend(app, (at) => toggleClass(app, at));
  showResults(app, (node) => choose(app, node, true));
  showDetails(app, (node) => choose(app, node, true));
  app.dirty = true;
}

function toggleClass(app, at) {
  if (!app.hidden.delete(at)) app.hidden.add(at);
  if (app.selected && !isShown(app, app.selected)) app.selected = null;
  refresh(app);
  document.querySelectorAll('#legend button')[at].focus();
}

function listenToPointer(app) {
  const { canvas } = app;
  const pressed = new Map(); // pointers by their number: one pans, two pinch
  let moved = 0;
  const place = (event) => [event.offsetX, event.offsetY];
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 18 : 1;
    moveView(app, () => zoomAt(app, ...place(event), Math.exp(-event.deltaY * lines * 0.0016)));
  }, { passive: false });
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, place(event));
    if (pressed.size === 1) moved = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!pressed.has(event.pointerId)) { hoverAt(app, ...place(event)); return; }
    const before = [...pressed.values()];
    const [x, y] = pressed.get(event.pointerId);
    pressed.set(event.pointerId, place(event));
    moved += Math.abs(event.offsetX - x) + Math.abs(event.offsetY - y);
    if (moved > 4) moveView(app, () => drag(app, before, [...pressed.values()]));
  });
  const release = (event) => {
    if (!pressed.delete(event.pointerId) || pressed.size > 0) return;
    if (event.type === 'pointerup' && moved <= 4) choose(app, nodeAt(app, ...place(event)), false);
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => hoverAt(app, -1e6, -1e6));
}

// The view follows the middle of the pointers, and their distance if there are two.
function drag(app, before, after) {
  const middle = (points) => [0, 1].map((axis) => points.reduce((sum, p) => sum + p[axis], 0) / points.length);
  const [[x0, y0], [x1, y1]] = [middle(before), middle(after)];
  app.view.x += x1 - x0;
  app.view.y += y1 - y0;
  if (before.length === 2) {
    const span = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    zoomAt(app, x1, y1, span(after) / span(before));
  }
}

function moveView(app, move) {
  move();
  app.touched = true;
  app.dirty = true;
}

function hoverAt(app, x, y) {
  const node = nodeAt(app, x, y);
  if (node !== app.hover) app.dirty = true;
  app.hover = node;
  app.canvas.classList.toggle('over', Boolean(node));
  showHover(app, x, y);
}

function listenToKeys(app) {
  const middle = (factor) => () => zoomAt(app, app.width / 2, app.height / 2, factor);
  const by = (x, y) => () => { app.view.x += x; app.view.y += y; };
  const moves = {
    ArrowLeft: by(60, 0), ArrowRight: by(-60, 0), ArrowUp: by(0, 60), ArrowDown: by(0, -60),
    '+': middle(1.25), '=': middle(1.25), '-': middle(0.8), 0: () => fitView(app),
  };
  app.canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') { choose(app, null, false); return; }
    if (!moves[event.key]) return;
    event.preventDefault();
    moveView(app, moves[event.key]);
  });
}

function listenToControls(app) {
  const on = (id, act) => document.getElementById(id).addEventListener('click', () => moveView(app, act));
  on('zoom-in', () => zoomAt(app, app.width / 2, app.height / 2, 1.4));
  on('zoom-out', () => zoomAt(app, app.width / 2, app.height / 2, 1 / 1.4));
  on('zoom-fit', () => fitView(app));
  document.getElementById('search').addEventListener('input', (event) => {
    app.search = event.target.value;
    showResults(app, (node) => choose(app, node, true));
  });
  document.getElementById('search').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') document.querySelector('#results button')?.click();
  });
  for (const radio of document.querySelectorAll('input[name="colour"]')) {
    radio.addEventListener('change', () => {
      app.colourBy = radio.value;
      refresh(app);
    });
  }
}

const app = createApp();
app.still = matchMedia('(prefers-reduced-motion: reduce)').matches;
fitCanvas(app);
fitView(app);
listen(app);
refresh(app);
showNote(app);
frame(app);
