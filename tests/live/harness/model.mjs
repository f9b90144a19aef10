/// The scripted model and the requests that it received. Only these requests decide what an agent's model got.
///
/// Every later request repeats the conversation, so a message is counted by its occurrences in one request, and an arrival
/// is an increase of that count from one request to the next. A message that disappears and returns has arrived twice.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from './wait.mjs';

export class Model {
  #child;
  #log = { text: 0, events: [] };
  #seen = new Set();
  requests = [];  // {at, texts, replies}: time of arrival, input of the model, earlier replies of the model

  constructor(directory, tools, port) {
    Object.assign(this, { directory, tools, port, dumps: join(directory, 'requests'), logFile: join(directory, 'log') });
    mkdirSync(this.dumps, { recursive: true });
  }

  async start(script) {
    writeFileSync(join(this.directory, 'script.json'), JSON.stringify(script));
    this.#child = spawn('python3', [join(this.tools, 'model_server.py'), '--port', `${this.port}`, '--script',
      join(this.directory, 'script.json'), '--log', this.logFile, '--dump', this.dumps], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    this.#child.stdout.on('data', (bytes) => { out += bytes; });
    this.#child.stderr.on('data', (bytes) => { out += bytes; });
    await must(() => out.includes('listening'), 15_000, () => `the model server did not start: ${out}`);
  }

  stop() { this.#child?.kill(); }

  /// Events of its log; reads those added since the last call.
  get events() {
    let bytes = Buffer.alloc(0);
    try { bytes = readFileSync(this.logFile).subarray(this.#log.text); } catch { return this.#log.events; }
    const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
    this.#log.text += whole.length;
    for (const line of whole.toString().split('\n')) if (line) this.#log.events.push(JSON.parse(line));
    return this.#log.events;
  }

  /// Reads the requests that have arrived since the last call.
  readRequests() {
    for (const name of readdirSync(this.dumps).sort()) {
      if (this.#seen.has(name)) continue;
      const path = join(this.dumps, name);
      let body;
      try { body = JSON.parse(readFileSync(path, 'utf8')); } catch { break; }  // still being written
      this.#seen.add(name);
      const conversation = conversationOf(body);
      if (conversation) this.requests.push({ at: statSync(path).mtimeMs, name, ...conversation });
    }
    return this.requests.sort((one, other) => (one.name < other.name ? -1 : 1));  // of two concurrent requests the later may be written first
  }

  /// {arrivals, first: the first request with the text, counts: occurrences in each request}
  arrival(text) {
    let before = 0, arrivals = 0, first;
    const counts = [];
    for (const request of this.readRequests()) {
      const count = occurrences(request, text);
      if (count > before) {
        arrivals += count - before;
        first ??= request;
      }
      before = count;
      counts.push(count);
    }
    return { arrivals, first, counts };
  }

  reached(text) { return this.readRequests().some((request) => occurrences(request, text) > 0); }

  textWith(mark) { return this.readRequests().flatMap((request) => request.texts).find((text) => text.includes(mark)); }

  /// Whether the text, apart from surrounding spaces, was received as one complete text.
  receivedExactly(text) { return this.readRequests().some((request) => request.texts.some((each) => each.trim() === text)); }

  /// The request with a prompt, or with its turn-th tool result. The log truncates long texts; the requests do not.
  promptRequest(prompt, turn = 0) {
    const logged = this.events.find((event) =>
      event.ev === 'request' && event.turn === turn && event.user.includes(prompt));
    if (logged || turn > 0) return logged;
    const request = this.readRequests().find(({ texts }) => texts.some((text) => text.includes(prompt)));
    return request && { t: request.at / 1000 };
  }
  replied(text) { return this.events.find((event) => event.ev === 'reply_done' && event.text.includes(text)); }
  get cutReplies() { return this.events.filter((event) => event.ev === 'reply_done' && event.aborted); }
  /// Whether the agent's conversation has the reply unchanged.
  hasCompleteReply(text) { return this.readRequests().some((request) => request.replies.some((each) => each.includes(text))); }
}

function occurrences(request, text) {
  let count = 0;
  for (const each of request.texts)
    for (let at = each.indexOf(text); at >= 0; at = each.indexOf(text, at + text.length)) ++count;
  return count;
}

/// The agent's conversation in a request of any of the four APIs; nothing for titles, summaries and other side calls.
function conversationOf(body) {
  const turns = body.messages ?? body.input ?? body.contents;
  if (!Array.isArray(turns) || isSideCall(body)) return undefined;
  const texts = [], replies = [];
  for (const turn of turns) {
    const own = turn.role === 'assistant' || turn.role === 'model' || /_call$|^reasoning$/.test(turn.type ?? '');
    collectStrings(turn, own ? replies : texts);
  }
  return { texts, replies };
}

function isSideCall(body) {
  if (body.messages && Array.isArray(body.tools))
    return !body.tools.some((tool) => ['Bash', 'Read', 'Agent'].includes(tool.name) || tool.function);
  if (body.contents) return !body.tools?.length || Boolean(body.generationConfig?.responseJsonSchema);
  if (body.input) return JSON.stringify(body.input).includes('Generate a concise, single-line task title');
  return true;
}

/// Texts are compared in Unicode's composed form: an agent may write an accented letter as one character or as two.
function collectStrings(value, into) {
  if (typeof value === 'string') into.push(value.normalize('NFC'));
  else if (value && typeof value === 'object') for (const each of Object.values(value)) collectStrings(each, into);
}
