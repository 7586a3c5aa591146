// Lists the sections that hold all words of the search box; those with words in their headings come first.
'use strict';
const up = document.currentScript.dataset.up;
const box = document.getElementById('search');
const list = document.getElementById('found');
const MAX_RESULTS = 20;

function score([, title, heading, text], words) {
  const headings = (title + ' ' + heading).toLowerCase();
  const all = headings + ' ' + text.toLowerCase();
  return words.every(word => all.includes(word)) ? 1 + words.filter(word => headings.includes(word)).length : 0;
}

function excerpt(text, word) {
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  const part = text.slice(start, start + 160).replace(/\S*$/, '');
  return start > 0 ? '… ' + part.replace(/^\S*\s/, '') : part;
}

function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : sections
    .map(section => [score(section, words), section])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, MAX_RESULTS);
  list.replaceChildren(...found.map(([, [place, title, heading, text]]) => {
    const link = document.createElement('a');
    link.href = up + place;
    link.textContent = heading === title ? title : title + ': ' + heading;
    const line = document.createElement('p');
    line.textContent = excerpt(text, words[0]);
    const item = document.createElement('li');
    item.append(link, line);
    return item;
  }));
  if (words.length > 0 && found.length === 0) {
    list.append(Object.assign(document.createElement('li'), { textContent: 'nothing found' }));
  }
  list.hidden = words.length === 0;
}

// The text of all pages is loaded on the first use. A script, not fetch: the site also works from a folder.
box.addEventListener('focus', () => {
  const index = document.createElement('script');
  index.src = up + 'search-index.js';
  index.onload = () => { show(); box.addEventListener('input', show); };
  document.body.append(index);
}, { once: true });
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') { list.hidden = true; }
});
