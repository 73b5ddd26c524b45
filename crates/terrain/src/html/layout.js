// Where domains stand: links pull together, everything else pushes apart (Barnes and Hut's trick
// keeps that quick), and a cooling makes it come to rest. There is no chance in it: the same map
// is drawn the same way each time.

const COOLING = 0.0228;
const COLD = 0.001;
const FRICTION = 0.6;
const GRAVITY = 0.045;
const NEARNESS = 0.81; // the square of how wide a cell may look before it is opened
const DEEPEST = 24;

// Leaves of a sunflower: evenly spread, each place its own.
function placeAtStart(nodes) {
  nodes.forEach((node, at) => {
    const distance = 14 * Math.sqrt(at + 0.5);
    const angle = at * Math.PI * (3 - Math.sqrt(5));
    node.x = distance * Math.cos(angle);
    node.y = distance * Math.sin(angle);
    node.vx = 0;
    node.vy = 0;
  });
}

function createLayout(nodes, links) {
  placeAtStart(nodes);
  nodes.forEach((node) => { node.charge = 90 + 14 * node.radius; });
  links.forEach((link) => {
    link.strength = 1 / Math.min(link.from.lines, link.to.lines);
    link.bias = link.from.lines / (link.from.lines + link.to.lines);
    link.length = 34 + link.from.radius + link.to.radius;
  });
  return { nodes, links, heat: 1 };
}

function isSettled(layout) {
  return layout.heat < COLD;
}

// One step of the layout.
function stepLayout(layout) {
  layout.heat -= layout.heat * COOLING;
  pullLinks(layout);
  pushApart(layout);
  for (const node of layout.nodes) {
    // What hangs on no line would drift away from all the others.
    const gravity = (node.lines === 0 ? 4 : 1) * GRAVITY * layout.heat;
    node.vx = (node.vx - node.x * gravity) * FRICTION;
    node.vy = (node.vy - node.y * gravity) * FRICTION;
    node.x += node.vx;
    node.y += node.vy;
  }
}

function pullLinks(layout) {
  for (const { from, to, strength, bias, length } of layout.links) {
    const dx = to.x + to.vx - from.x - from.vx || 1e-6;
    const dy = to.y + to.vy - from.y - from.vy || 1e-6;
    const distance = Math.sqrt(dx * dx + dy * dy);
    const pull = ((distance - length) / distance) * layout.heat * strength;
    to.vx -= dx * pull * bias;
    to.vy -= dy * pull * bias;
    from.vx += dx * pull * (1 - bias);
    from.vy += dy * pull * (1 - bias);
  }
}

function pushApart(layout) {
  const root = buildTree(layout.nodes);
  for (const node of layout.nodes) pushFrom(root, node, layout.heat);
}

function pushFrom(root, node, heat) {
  const open = [root];
  while (open.length > 0) {
    const cell = open.pop();
    const dx = cell.x - node.x;
    const dy = cell.y - node.y;
    const square = dx * dx + dy * dy;
    if (cell.parts && cell.size * cell.size >= square * NEARNESS) {
      for (const part of cell.parts) if (part) open.push(part);
    } else if (cell.only !== node) {
      const push = (cell.charge * heat) / Math.max(square, 30);
      node.vx -= dx * push;
      node.vy -= dy * push;
    }
  }
}

function newCell(left, top, size) {
  return { left, top, size, x: 0, y: 0, charge: 0, parts: null, only: null };
}

function buildTree(nodes) {
  let reach = 1;
  for (const node of nodes) reach = Math.max(reach, Math.abs(node.x), Math.abs(node.y));
  const root = newCell(-reach, -reach, 2 * reach);
  for (const node of nodes) addToTree(root, node);
  weigh(root);
  return root;
}

function addToTree(root, node) {
  let cell = root;
  for (let depth = 0; ; depth += 1) {
    cell.x += node.x * node.charge;
    cell.y += node.y * node.charge;
    cell.charge += node.charge;
    const empty = cell.charge === node.charge;
    if (empty) { cell.only = node; return; }
    if (depth === DEEPEST) { cell.only = null; return; }
    if (!cell.parts) splitCell(cell);
    cell = partFor(cell, node);
  }
}

// The node that had the cell for itself moves one level down.
function splitCell(cell) {
  cell.parts = [null, null, null, null];
  const node = cell.only;
  cell.only = null;
  if (!node) return;
  const part = partFor(cell, node);
  part.x = node.x * node.charge;
  part.y = node.y * node.charge;
  part.charge = node.charge;
  part.only = node;
}

function partFor(cell, node) {
  const half = cell.size / 2;
  const right = node.x >= cell.left + half ? 1 : 0;
  const below = node.y >= cell.top + half ? 1 : 0;
  const at = right + 2 * below;
  cell.parts[at] ??= newCell(cell.left + right * half, cell.top + below * half, half);
  return cell.parts[at];
}

// Sums become the centre of a cell's charge.
function weigh(cell) {
  cell.x /= cell.charge;
  cell.y /= cell.charge;
  if (cell.parts) for (const part of cell.parts) if (part) weigh(part);
}
