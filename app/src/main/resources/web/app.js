// The page: takes images in, asks the server for each, shows the answers. Nothing is sent before an image is added.

import { bars, driftText, facts, make, neighbours, percent, regionList, shownImage, summary, words } from './draw.js';
import { Refusal, keepToken, model as askModel, predict, token } from './server.js';

const AT_ONCE = 2;
const PATIENCE = 4;
const LONGEST_WAIT = 30;
const HINT = matchMedia('(pointer: coarse)').matches
  ? 'Choose images, or take a photo.'
  : 'Drop images anywhere on this page, paste one, or choose files.';

const $ = (id) => document.getElementById(id);
const waiting = [];
const locked = new Set();
let running = 0;
let model = null;

// ---- the model ----

async function learnModel() {
  try {
    model = await askModel();
    $('summary').textContent = summary(model);
    $('model-facts').replaceChildren(facts(model));
    document.title = `${model.name} · Gramian`;
    const { title, results, promise } = words(model);
    $('drop-title').textContent = title;
    $('results-title').textContent = results;
    $('promise').textContent = promise;
    notice(model.drift?.detected ? driftText(model.drift) : null);
  } catch (refusal) {
    if (refusal.code === 'token') askForToken();
    else {
      $('summary').textContent = 'The model could not be loaded.';
      notice(refusal.message, learnModel);
    }
  }
}

/** Whoever comes back to the page sees the model that answers now. */
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && $('token-form').hidden) learnModel();
});

function notice(text, again) {
  $('notices').replaceChildren();
  if (!text) return;
  $('notices').append(make('div', { classes: 'notice fault', role: 'alert' }, make('p', { textContent: text }),
    again ? againButton(again) : null));
}

function againButton(action) {
  const button = make('button', { type: 'button', textContent: 'Try again' });
  button.addEventListener('click', action);
  return button;
}

// ---- the token ----

function askForToken() {
  const form = $('token-form');
  if (!form.hidden) return;
  if (token()) $('token-hint').textContent = 'The server rejected this token. Enter it again.';
  $('summary').textContent = 'Locked: a token is required.';
  form.hidden = false;
  $('token').focus();
}

$('token-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  keepToken($('token').value.trim());
  $('token').value = '';
  $('token-form').hidden = true;
  showCurl();
  await learnModel();
  if (model) {
    for (const card of locked) queue(card);
    locked.clear();
  }
});

// ---- images in ----

function add(files) {
  for (const file of files) {
    const card = newCard(file);
    $('cards').prepend(card.element);
    queue(card);
  }
  tidy();
}

function queue(card) {
  say(card, 'Queued…', 'busy');
  waiting.push(card);
  proceed();
}

function proceed() {
  while (running < AT_ONCE && waiting.length > 0) {
    running++;
    work(waiting.shift()).finally(() => {
      running--;
      proceed();
      if (running === 0 && model?.drift) learnModel(); // these images may have changed the drift
    });
  }
}

async function work(card) {
  if (card.removed) return;
  try {
    await readable(card.file);
    if (!model) await learnModel();
    show(card, await patiently(card));
  } catch (refusal) {
    if (card.removed) return;
    if (!(refusal instanceof Refusal)) throw refusal;
    fail(card, refusal);
  }
}

/** A folder can be dropped, and a file can be gone: said here, as the request itself would blame the network. */
async function readable(file) {
  if (file.size === 0) throw new Refusal('empty', 'This file is empty or a folder. Add image files.');
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw new Refusal('unreadable', 'This browser could not read the file. Is it a folder, or was it moved?');
  }
}

/**
 * Asks again after the time that a busy server names, a few times; and once where the question is wrong, for another model may
 * have taken the place of the one that it was meant for.
 */
async function patiently(card) {
  let renewed = false;
  for (let attempt = 1; ; attempt++) {
    say(card, model?.kind === 'detector' ? 'Inspecting…' : 'Classifying…', 'busy');
    try {
      return await predict(card.file, { explain: model?.explain ?? false, nearest: model?.gallery ?? false });
    } catch (refusal) {
      if (refusal.code === 'bad-request' && !renewed && !card.removed) {
        renewed = true;
        await learnModel();
        continue;
      }
      if (refusal.code !== 'busy' || refusal.retryAfter === undefined || attempt >= PATIENCE || card.removed) throw refusal;
      const seconds = Math.min(LONGEST_WAIT, Math.max(1, refusal.retryAfter));
      say(card, `The server is busy; retrying in ${seconds} s.`, 'busy');
      await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    }
  }
}

// ---- cards ----

function newCard(file) {
  const name = file.name || 'pasted image';
  const card = { file, name, url: URL.createObjectURL(file), removed: false };
  card.state = make('div', { classes: 'state' });
  card.body = make('div', { classes: 'body' });
  card.left = make('div', { classes: 'left' }, shownImage(card));
  const close = make('button', { type: 'button', classes: 'quiet close', textContent: '×' });
  close.setAttribute('aria-label', `Remove ${name}`);
  close.addEventListener('click', () => {
    drop(card);
    tidy();
    $('results').focus({ preventScroll: true });
  });
  const head = make('div', { classes: 'heading' }, make('h3', { textContent: name, title: name }), close);
  card.element = make('li', { classes: 'card' }, head,
    make('div', { classes: 'columns' }, card.left, make('div', { classes: 'right' }, card.state, card.body)));
  card.element.forget = () => drop(card);
  return card;
}

function drop(card) {
  card.removed = true;
  locked.delete(card);
  URL.revokeObjectURL(card.url);
  card.element.remove();
}

function say(card, text, kind, ...more) {
  card.state.className = `state ${kind}`;
  card.state.replaceChildren(make('p', { textContent: text }), ...more);
}

function show(card, result) {
  if (card.removed) return;
  card.state.className = 'state';
  card.state.replaceChildren();
  if ('anomalous' in result) {
    showInspection(card, result);
    return;
  }
  const sure = result.probability >= 0.5;
  card.left.replaceChildren(shownImage(card, result.explanation));
  card.body.replaceChildren(
    ...(result.unknown ? unknown(result) : [
      make('p', { classes: 'answer' }, make('strong', { textContent: result.class }), ' ',
        make('span', { textContent: percent(result.probability) })),
      ...(sure ? [] : [make('p', { classes: 'small', textContent: 'Low confidence: no class reaches 50 %.' })])]),
    bars(result.top ?? []));
  const near = neighbours(result.nearest, result.class);
  if (near) card.element.append(near);
  speak(`${card.name}: ${result.unknown ? 'unknown, most like ' : ''}${result.class}, ${percent(result.probability)}.`);
}

function unknown(result) {
  return [
    make('p', { classes: 'answer bad' }, make('strong', { textContent: 'Unknown' }), ' ',
      make('span', { textContent: `p = ${result.p_value.toPrecision(2)}` })),
    make('p', { classes: 'small', textContent: `None of the model’s classes; most like ${result.class}.` })];
}

function showInspection(card, result) {
  const verdict = result.anomalous ? 'Anomalous' : 'Good';
  const rare = `p = ${result.p_value.toPrecision(2)}`;
  card.left.replaceChildren(shownImage(card, result.explanation, result.regions));
  card.body.replaceChildren(
    make('p', { classes: result.anomalous ? 'answer bad' : 'answer' }, make('strong', { textContent: verdict }), ' ',
      make('span', { textContent: rare })),
    make('p', { classes: 'small', textContent: `Score ${result.score.toFixed(2)}; a typical good image has 1`
      + (result.threshold === null ? '. No image can be anomalous: the model has too few good images.'
        : `, an anomalous one more than ${result.threshold.toFixed(2)}.`) }),
    ...regionList(result.regions));
  speak(`${card.name}: ${verdict}, ${rare}.`);
}

function fail(card, refusal) {
  if (refusal.code === 'token') {
    locked.add(card);
    say(card, 'Waiting for the token.', 'busy');
    askForToken();
    return;
  }
  say(card, refusal.message, 'fault', ...(refusal.final ? [] : [againButton(() => queue(card))]));
  speak(`${card.name}: ${refusal.message}`);
}

/** Answers that come together are read out together. */
let unspoken = [];
function speak(text) {
  if (unspoken.length === 0) {
    setTimeout(() => {
      $('spoken').textContent = unspoken.join(' ');
      unspoken = [];
    }, 150);
  }
  unspoken.push(text);
}

function tidy() {
  const count = $('cards').childElementCount;
  $('nothing').hidden = count > 0;
  $('clear').hidden = count < 2;
}

// ---- ways in: files, camera, drop, paste ----

for (const id of ['file', 'camera']) {
  $(id).addEventListener('change', (event) => {
    add(event.target.files);
    event.target.value = '';
  });
}

$('clear').addEventListener('click', () => {
  for (const element of [...$('cards').children]) element.forget();
  waiting.length = 0;
  tidy();
  $('results').focus({ preventScroll: true });
});

let depth = 0;
function over(change) {
  depth = Math.max(0, depth + change);
  document.body.classList.toggle('dragging', depth > 0);
}
document.addEventListener('dragenter', () => over(1));
document.addEventListener('dragleave', () => over(-1));
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  over(-depth);
  take(event.dataTransfer, 'The dropped item is not a file. Save the image first, or copy and paste it.');
});
document.addEventListener('paste', (event) => {
  if (event.target instanceof HTMLInputElement) return;
  take(event.clipboardData, 'The clipboard holds no image.');
});

function take(transfer, otherwise) {
  const files = [...(transfer?.files ?? [])];
  $('drop-hint').classList.toggle('fault', files.length === 0);
  $('drop-hint').textContent = files.length > 0 ? HINT : otherwise;
  if (files.length === 0) speak(otherwise);
  add(files);
}

// ---- the example ----

function showCurl() {
  const address = new URL('v1/predict?top=5', location.href).href;
  const secret = token() ? ' -H "Authorization: Bearer $TOKEN"' : '';
  $('curl').textContent = `curl${secret} -F image=@photo.jpg "${address}"`;
}

$('copy').hidden = !navigator.clipboard;
$('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText($('curl').textContent);
  $('copy').textContent = 'Copied';
  speak('Copied.');
  setTimeout(() => { $('copy').textContent = 'Copy'; }, 2000);
});

$('drop-hint').textContent = HINT;
showCurl();
learnModel();
