// What is told about domains in words: the list, the details, the legend. Text is only ever set as
// text: every name and anchor comes from the web.

const LISTED = 150;
const NEIGHBOURS = 25;
const EXAMPLES = 8;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function figure(number) {
  return number.toLocaleString('en-GB');
}

function dot(colour) {
  const made = element('span', 'dot');
  made.style.background = colour;
  return made;
}

function domainButton(app, node, number, onChoose) {
  const button = element('button');
  button.type = 'button';
  button.append(dot(colourOf(app, node)), element('span', 'name', node.name), element('span', 'figure', figure(number)));
  button.dataset.domain = node.name;
  button.addEventListener('click', () => onChoose(node));
  const item = element('li');
  item.append(button);
  return item;
}

// The domains whose names hold what is looked for, most cited first.
function showResults(app, onChoose) {
  const wanted = app.search.trim().toLowerCase();
  const found = app.ranked.filter((node) => isShown(app, node) && node.name.includes(wanted));
  const list = document.getElementById('results');
  list.replaceChildren(...found.slice(0, LISTED).map((node) => domainButton(app, node, node.links_in, onChoose)));
  if (found.length > LISTED) list.append(element('li', '', `… and ${figure(found.length - LISTED)} more`));
  if (found.length === 0) list.append(element('li', '', 'No domain with that name.'));
}

function showDetails(app, onChoose) {
  const place = document.getElementById('details');
  const node = app.selected;
  if (!node) { place.replaceChildren(); return; }
  const title = element('h2');
  const close = element('button', '', '×');
  close.type = 'button';
  close.setAttribute('aria-label', 'Close details');
  close.addEventListener('click', () => onChoose(null));
  title.append(element('span', '', node.name), close);
  place.replaceChildren(title, facts(app, node));
  const into = node.links.filter((link) => link.to === node);
  const out = node.links.filter((link) => link.from === node);
  place.append(...neighbours(app, 'Cited by', into, (link) => link.from, onChoose));
  place.append(...neighbours(app, 'Cites', out, (link) => link.to, onChoose));
  place.append(...examples([...into, ...out]));
  place.parentElement.scrollTop = 0;
}

function facts(app, node) {
  const list = element('dl');
  const rows = [
    ['Class', app.data.classes[node.class]],
    ['Depth', node.depth],
    ['Pages crawled', figure(node.crawled)],
    ['Pages known', figure(node.pages)],
    ...node.states.map(([state, pages]) => [`… ${app.data.states[state]}`, figure(pages)]),
    ['Requests', figure(node.requests) + (node.rate_limited ? ', then 429' : '')],
    ['Links in', `${figure(node.links_in)} from ${figure(node.domains_in)} domains`],
    ['Links out', `${figure(node.links_out)} to ${figure(node.domains_out)} domains`],
    ['Links inside', figure(node.links_inside)],
  ];
  for (const [name, value] of rows) list.append(element('dt', '', name), element('dd', '', String(value)));
  return list;
}

function neighbours(app, title, links, other, onChoose) {
  if (links.length === 0) return [];
  const list = element('ul', 'links');
  for (const link of links.slice(0, NEIGHBOURS)) list.append(domainButton(app, other(link), link.weight, onChoose));
  if (links.length > NEIGHBOURS) list.append(element('li', '', `… and ${figure(links.length - NEIGHBOURS)} more`));
  return [element('h3', '', title), list];
}

function examples(links) {
  const shown = links.filter((link) => link.example).slice(0, EXAMPLES);
  if (shown.length === 0) return [];
  return [element('h3', '', 'Example links'), ...shown.map((link) => example(link.example))];
}

function example({ from, to, anchor }) {
  const line = element('p', 'example');
  line.append(address(from), ' → ', address(to));
  if (anchor) line.append(' ', element('q', '', anchor));
  return line;
}

// A URL to follow, unless it is of a kind that a page of ours should not offer.
function address(url) {
  if (!/^https?:\/\//.test(url)) return element('span', '', url);
  const link = element('a', '', url);
  link.href = url;
  link.rel = 'noreferrer noopener nofollow';
  link.target = '_blank';
  return link;
}

// What a colour means; for classes also a switch that hides them.
function showLegend(app, onToggle) {
  const place = document.getElementById('legend');
  place.replaceChildren(...(app.colourBy === 'depth' ? depthLegend(app) : []), ...classLegend(app, onToggle));
}

function classLegend(app, onToggle) {
  return app.data.classes.map((name, at) => {
    const count = app.nodes.filter((node) => node.class === at).length;
    const button = element('button');
    button.type = 'button';
    button.setAttribute('aria-pressed', String(!app.hidden.has(at)));
    if (app.colourBy === 'class') button.append(dot(app.theme.classes[at]));
    button.append(`${name} (${figure(count)})`);
    button.addEventListener('click', () => onToggle(at));
    return button;
  });
}

function depthLegend(app) {
  const last = app.theme.depths.length - 1;
  const deepest = app.nodes.reduce((most, node) => Math.max(most, node.depth), 0);
  return app.theme.depths.slice(0, Math.min(deepest, last) + 1).map((colour, at) => {
    const mark = element('span', 'key');
    mark.append(dot(colour), ` ${at}${at === last && deepest > last ? '+' : ''}`);
    return mark;
  });
}

function showHover(app, x, y) {
  const place = document.getElementById('hover');
  const node = app.hover;
  place.hidden = !node;
  if (!node) return;
  place.replaceChildren(
    element('strong', '', node.name),
    `${app.data.classes[node.class]}, depth ${node.depth} · ${figure(node.crawled)} of ${figure(node.pages)} pages · `
      + `${figure(node.links_in)} links in, ${figure(node.links_out)} out`,
  );
  const left = Math.min(x + 14, app.width - place.offsetWidth - 8);
  const top = y + 18 + place.offsetHeight > app.height ? y - place.offsetHeight - 10 : y + 18;
  place.style.left = `${Math.max(left, 4)}px`;
  place.style.top = `${Math.max(top, 4)}px`;
}
