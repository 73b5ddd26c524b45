// What is seen of the graph: lines, domains, names, in the colours of the style sheet. Knows where
// things stand and what is looked at, not why.

const MOST_NAMES = 70;
const SOME_NAMES = 12; // while everything still moves

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    paper: colour('--paper'), ink: colour('--ink'), soft: colour('--soft'),
    line: colour('--line'), lineIn: colour('--line-in'), lineOut: colour('--line-out'),
    classes: [0, 1, 2, 3].map((at) => colour(`--class-${at}`)),
    depths: [0, 1, 2, 3, 4].map((at) => colour(`--depth-${at}`)),
  };
}

function colourOf(app, node) {
  const { classes, depths } = app.theme;
  return app.colourBy === 'depth' ? depths[Math.min(node.depth, depths.length - 1)] : classes[node.class];
}

function isShown(app, node) {
  return !app.hidden.has(node.class);
}

// The domain that the eye is on: what the pointer is over goes before what was chosen.
function focusOf(app) {
  return app.hover ?? app.selected;
}

function fitCanvas(app) {
  const { canvas } = app;
  const scale = window.devicePixelRatio || 1;
  app.width = canvas.clientWidth;
  app.height = canvas.clientHeight;
  canvas.width = Math.round(app.width * scale);
  canvas.height = Math.round(app.height * scale);
  app.scale = scale;
}

// Sets the view so that everything shown is in it.
function fitView(app) {
  const shown = app.nodes.filter((node) => isShown(app, node));
  if (shown.length === 0) return;
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y, radius } of shown) {
    left = Math.min(left, x - radius);
    right = Math.max(right, x + radius);
    top = Math.min(top, y - radius);
    bottom = Math.max(bottom, y + radius);
  }
  const room = 46;
  const zoom = Math.min((app.width - 2 * room) / (right - left), (app.height - 2 * room) / (bottom - top));
  const k = Math.max(0.02, Math.min(zoom, 2.5));
  app.view = { k, x: app.width / 2 - (k * (left + right)) / 2, y: app.height / 2 - (k * (top + bottom)) / 2 };
}

function zoomAt(app, x, y, factor) {
  const { view } = app;
  const k = Math.max(0.02, Math.min(view.k * factor, 12));
  view.x = x - ((x - view.x) * k) / view.k;
  view.y = y - ((y - view.y) * k) / view.k;
  view.k = k;
}

function nodeAt(app, x, y) {
  const { view } = app;
  let best = null;
  let nearest = Infinity;
  for (const node of app.nodes) {
    if (!isShown(app, node)) continue;
    const distance = Math.hypot(node.x * view.k + view.x - x, node.y * view.k + view.y - y);
    if (distance < Math.max(drawnRadius(app, node), 6) + 3 && distance < nearest) {
      best = node;
      nearest = distance;
    }
  }
  return best;
}

// Domains grow slower than the view, so that a near look shows more and not only larger.
function drawnRadius(app, node) {
  return node.radius * Math.min(Math.max(Math.sqrt(app.view.k), 0.45), 2);
}

function draw(app) {
  const { context, view, scale } = app;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = app.theme.paper;
  context.fillRect(0, 0, app.width, app.height);
  for (const node of app.nodes) {
    node.sx = node.x * view.k + view.x;
    node.sy = node.y * view.k + view.y;
  }
  const focus = focusOf(app);
  drawLines(app, focus);
  drawNodes(app, focus);
  drawNames(app, focus);
  context.globalAlpha = 1;
}

function drawLines(app, focus) {
  const { context } = app;
  const weights = [[], [], []];
  for (const link of app.links) {
    if (!isShown(app, link.from) || !isShown(app, link.to)) continue;
    weights[link.weight > 50 ? 2 : link.weight > 5 ? 1 : 0].push(link);
  }
  const faint = Math.min(0.42, 5.5 / Math.sqrt(app.links.length + 1)) * (focus ? 0.35 : 1);
  weights.forEach((links, heavy) => {
    context.globalAlpha = Math.min(0.8, faint * (1 + 0.6 * heavy));
    context.lineWidth = 0.7 + 0.6 * heavy;
    context.strokeStyle = app.theme.line;
    context.beginPath();
    for (const { from, to } of links) {
      context.moveTo(from.sx, from.sy);
      context.lineTo(to.sx, to.sy);
    }
    context.stroke();
  });
  if (focus) drawFocusLines(app, focus);
}

function drawFocusLines(app, focus) {
  const { context, theme } = app;
  context.globalAlpha = 0.85;
  context.lineWidth = 1.3;
  for (const link of focus.links) {
    if (!isShown(app, link.from) || !isShown(app, link.to)) continue;
    context.strokeStyle = link.to === focus ? theme.lineIn : theme.lineOut;
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.moveTo(link.from.sx, link.from.sy);
    context.lineTo(link.to.sx, link.to.sy);
    context.stroke();
    drawArrow(app, link);
  }
}

function drawArrow(app, { from, to }) {
  const { context } = app;
  const angle = Math.atan2(to.sy - from.sy, to.sx - from.sx);
  const away = drawnRadius(app, to) + 2;
  const [x, y] = [to.sx - away * Math.cos(angle), to.sy - away * Math.sin(angle)];
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 7 * Math.cos(angle - 0.42), y - 7 * Math.sin(angle - 0.42));
  context.lineTo(x - 7 * Math.cos(angle + 0.42), y - 7 * Math.sin(angle + 0.42));
  context.fill();
}

function drawNodes(app, focus) {
  const { context, theme } = app;
  const near = focus ? focus.near : null;
  // Backwards, because the important ones come first and belong on top.
  for (let at = app.nodes.length - 1; at >= 0; at -= 1) {
    const node = app.nodes[at];
    if (!isShown(app, node)) continue;
    const lit = !near || node === focus || near.has(node);
    context.globalAlpha = lit ? 1 : 0.16;
    context.beginPath();
    context.arc(node.sx, node.sy, drawnRadius(app, node), 0, 2 * Math.PI);
    context.fillStyle = colourOf(app, node);
    context.fill();
    const chosen = node === app.selected || node === focus;
    context.lineWidth = chosen ? 3 : node.class === 0 ? 1.6 : 0.8;
    context.strokeStyle = chosen || node.class === 0 ? theme.ink : theme.paper;
    context.stroke();
  }
}

// Names where there is room for them, those of the domains that matter most first.
function drawNames(app, focus) {
  const { context, theme } = app;
  const taken = [];
  const onStage = (node) => isShown(app, node) && isOnStage(app, node);
  const ranked = (focus ? [focus, ...app.ranked.filter((node) => focus.near.has(node))] : app.ranked).filter(onStage);
  const large = ranked.filter((node) => drawnRadius(app, node) > 7).slice(0, MOST_NAMES);
  const most = isSettled(app.layout) ? MOST_NAMES : SOME_NAMES;
  const least = focus || app.nodes.length < 300 ? 0 : 3.4; // from afar only the larger ones
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  for (const node of ranked) {
    if (taken.length >= most) break;
    if (drawnRadius(app, node) < least && node !== focus) continue;
    const boxes = nameBoxes(app, node);
    const box = boxes.find((candidate) => isFree(app, candidate, taken, large.filter((other) => other !== node)))
      // The largest are named even where that hides a part of others.
      ?? (drawnRadius(app, node) > 12 ? boxes.find((candidate) => isFree(app, candidate, taken, [])) : undefined);
    if (!box) continue;
    taken.push(box);
    context.globalAlpha = 1;
    context.strokeStyle = theme.paper;
    context.lineWidth = 3.5;
    context.strokeText(node.name, box.left, box.middle);
    context.fillStyle = theme.ink;
    context.fillText(node.name, box.left, box.middle);
  }
}

// Where the name of a domain may stand: right of it, left of it, below it.
function nameBoxes(app, node) {
  node.nameWidth ??= app.context.measureText(node.name).width;
  const away = drawnRadius(app, node) + 4;
  const places = [
    [node.sx + away, node.sy],
    [node.sx - away - node.nameWidth, node.sy],
    [node.sx - node.nameWidth / 2, node.sy + away + 6],
  ];
  return places.map(([left, middle]) => ({ left, right: left + node.nameWidth, middle, top: middle - 8, bottom: middle + 8 }));
}

// Whether a name there hides neither another name nor a large domain.
function isFree(app, box, taken, large) {
  return isInside(app, box)
    && !taken.some((other) => overlaps(box, other))
    && !large.some((other) => isOver(app, box, other));
}

function isOnStage(app, { sx, sy }) {
  return sx > 0 && sx < app.width && sy > 0 && sy < app.height;
}

function isInside(app, box) {
  return box.left > 0 && box.right < app.width && box.top > 0 && box.bottom < app.height;
}

function overlaps(a, b) {
  return a.left < b.right + 4 && b.left < a.right + 4 && a.top < b.bottom && b.top < a.bottom;
}

function isOver(app, box, node) {
  const away = drawnRadius(app, node);
  const dx = Math.max(box.left - node.sx, 0, node.sx - box.right);
  const dy = Math.max(box.top - node.sy, 0, node.sy - box.bottom);
  return dx * dx + dy * dy < away * away;
}
