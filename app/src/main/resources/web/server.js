// What the server is asked, and what its refusals mean to a person. Nothing here touches the page.

const TOKEN = 'gramian.token';

/** What the same file will meet again, however often it is sent. */
const FINAL = new Set(['empty', 'unreadable', 'large', 'kind']);

/** A request that got no answer that can be shown. `retryAfter` is in seconds, where waiting may help. */
export class Refusal extends Error {
  constructor(code, message, retryAfter) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
    this.final = FINAL.has(code);
  }
}

/** The token lives as long as the tab; a browser without storage forgets it with the page. */
let held = null;

export function token() {
  try {
    return sessionStorage.getItem(TOKEN) ?? held;
  } catch {
    return held;
  }
}

export function keepToken(text) {
  held = text;
  try {
    sessionStorage.setItem(TOKEN, text);
  } catch {
    // Kept in this page's memory alone.
  }
}

/** GET v1/model. */
export function model() {
  return ask('v1/model', { method: 'GET' });
}

/**
 * POST v1/predict with one image, byte for byte as it is on disk: the server's answer is that of `gramian predict`.
 * One image a request, so that answers come as they are ready; the server joins requests into batches.
 */
export async function predict(file, { explain, nearest }) {
  const form = new FormData();
  form.append('image', file, file.name || 'image');
  const wanted = new URLSearchParams({ top: '5' });
  if (explain) wanted.set('explain', 'true');
  if (nearest) wanted.set('nearest', '6');
  const answer = await ask(`v1/predict?${wanted}`, { method: 'POST', body: form });
  const result = answer.results?.[0];
  if (!result) throw new Refusal('answer', 'The server sent a response without a result.');
  if (result.error) throw new Refusal(result.error.code, meaning(200, result.error));
  return result;
}

async function ask(path, request) {
  const headers = { Accept: 'application/json' };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  let response;
  try {
    response = await fetch(path, { ...request, headers, cache: 'no-store' });
  } catch {
    throw new Refusal('gone', 'The server does not respond. Is it still running, and is the network up?');
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    // An answer that is no JSON is judged by its status alone.
  }
  if (!response.ok) {
    const wait = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    const error = body?.error ?? {};
    throw new Refusal(code(response.status, error), meaning(response.status, error), Number.isFinite(wait) ? wait : undefined);
  }
  if (body === null) throw new Refusal('answer', 'The server sent a response that is not JSON.');
  return body;
}

function code(status, error) {
  if (status === 401) return 'token';
  if (status === 413) return 'large';
  if (status === 415) return 'kind';
  if (status === 429 || status === 503) return 'busy';
  return error.code ?? String(status);
}

/** What to do, in front of what the server says. */
function meaning(status, error) {
  const said = error.message ?? '';
  if (status === 401) return 'The server requires a token.';
  if (status === 413) return join('This image is too large for the server.', said);
  if (status === 415) return join('The server does not accept this type of file.', said);
  if (status === 429) return 'The server is overloaded (HTTP 429).';
  if (status === 503) return join('The server is temporarily unavailable (HTTP 503).', said);
  if (status >= 500) return join('The server failed.', said);
  if (error.code === 'unreadable') return join('This file could not be read as an image.', said);
  return said || `The server responded with HTTP status ${status}.`;
}

function join(first, said) {
  return said ? `${first} Details: ${said}` : first;
}
