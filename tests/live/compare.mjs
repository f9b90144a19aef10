/// tests/live/compare CLI… [--json FILE]
///
/// The same agent, bare and wrapped by agent-relay, in the same folder with the same model: what it prints when it is not at a
/// terminal, its exit codes, which tools it asks about at a terminal, what its dialogs say, what it runs. Runs as the user who
/// starts it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { kAgents } from './harness/agents.mjs';
import { Seat } from './harness/seat.mjs';
import { must, pause, until } from './harness/waiting.mjs';
import { where } from './harness/where.mjs';

const kRunMs = 120_000;
const kDecidedMs = 30_000;

function usage(sentence) {
  console.error(`${sentence}\nusage: tests/live/compare CLI… [--json FILE]\nCLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

/// headless: its arguments for one prompt without a terminal. json: what makes that a stream of JSON lines. ready: its composer. asks: any dialog about a tool. read: how it
/// reads a file, where it has no tool for that alone.
const kWays = {
  claude: { headless: (prompt) => ['-p', prompt], json: ['--output-format', 'stream-json', '--verbose'],
    ready: /❯/, asks: /❯ 1\. Yes/, arguments: ['--permission-mode', 'default'] },
  codex: { headless: (prompt) => ['exec', '--skip-git-repo-check', prompt], json: ['--json'], ready: /›/, asks: /› 1\. Yes/,
    read: (path) => ({ tool: 'shell', command: `cat ${path}` }),
    arguments: ['--no-daemon', '--sandbox', 'read-only', '--ask-for-approval', 'on-request'] },
  gemini: { headless: (prompt) => ['-p', prompt], json: ['-o', 'stream-json'], ready: /Type your message/, asks: /● 1\. Allow/, arguments: [] },
  opencode: { headless: (prompt) => ['run', prompt], json: ['--format', 'json'], ready: /Ask anything|┃/, asks: /Permission required/, arguments: [] },
};

/// What the model wants to do, step by step. `ran` says whether a tool's result came back without an error.
const kSteps = (project, outside, read = (path) => ({ tool: 'read', path })) => [
  { name: 'read a file of the project', tool: read(join(project, 'README.md')) },
  { name: 'read a file outside', tool: read(join(outside, 'secret.txt')) },
  { name: 'list the directory', tool: { tool: 'shell', command: 'ls' } },
  { name: 'git status', tool: { tool: 'shell', command: 'git status' } },
  { name: 'make a file', tool: { tool: 'shell', command: 'touch made-by-shell' } },
  { name: 'write a file', tool: { tool: 'write', path: join(project, 'note-1.txt'), content: 'one\n' } },
];
const promptOf = (n) => `please do step ${n}.`;

function script(outside, read) {
  return (agent, project) => ({ delay_ms: 1, first_ms: 5, chunk: 400, rules: [
    ...kSteps(project, outside, read).map(({ tool }, n) => ({ match: promptOf(n).replaceAll('.', '\\.'),
      turns: [{ text: 'Doing.', tools: [tool] }, { text: `Step ${n} is over.` }] })),
    { match: 'please say it', turns: [{ text: 'A line with ümlauts, "quotes" and\na second line.' }] },
    { match: '', turns: [{ text: 'ok.' }] }] });
}

/// Ids and times that differ from run to run.
const steady = (text) => text
  .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
  .replace(/ses_\w+/g, 'SESSION').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'TIME').replace(/\b\d+(\.\d+)?m?s\b/g, 'SPAN')
  .replace(/^session id: .*$/gm, '')
  .replace(/^\[STARTUP\] .*\n/gm, '');  // Gemini CLI measures its start and complains of its own clock, bare too, on a busy machine

/// The kind of each line of a stream of JSON.
const kindsOf = (stdout) => stdout.split('\n').filter(Boolean).map((line) => {
  try {
    const { type, subtype, item } = JSON.parse(line);
    return [type, subtype, item?.type].filter(Boolean).join(' ');
  } catch { return line; }
});

/// Request bodies as the model got them, without what is about one request only. Gemini CLI shows its model the project's
/// folders, and ours is one of them.
function given(model) {
  return readdirSync(model.dumps).sort().map((name) => {
    const { metadata, client_metadata, prompt_cache_key, ...body } = JSON.parse(readFileSync(join(model.dumps, name), 'utf8'));
    return steady(JSON.stringify(body)).replaceAll('├───.agent-relay/...\\n', '');
  });
}

/// One side of the comparison: the agent bare, or by agent-relay.
class Side {
  constructor(cli, wrapped, place) {
    Object.assign(this, { cli, wrapped, way: kWays[cli], seat: new Seat(cli, place) });
    this.outside = join(place.state, `outside-${cli}`);
  }

  async open() {
    mkdirSync(this.outside, { recursive: true });
    writeFileSync(join(this.outside, 'secret.txt'), 'outside\n');
    await this.seat.prepare(script(this.outside, this.way.read));
  }

  words(...words) { return this.wrapped ? [this.seat.relay.program, '-n', 'Alice', this.cli, ...words] : [this.cli, ...words]; }

  /// Without a terminal: {code, stdout, stderr}
  headless(words, input) {
    return new Promise((resolve) => {
      const child = spawn('bash', ['-c', `${this.seat.surroundings()}; exec "$@"`, 'bash', ...this.words(...words)],
        { cwd: this.seat.project, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], timeout: kRunMs });
      let stdout = '', stderr = '';
      child.stdout.on('data', (bytes) => { stdout += bytes; });
      child.stderr.on('data', (bytes) => { stderr += bytes; });
      if (input !== undefined) child.stdin.end(input);
      child.on('close', (code, signal) => resolve({ code: code ?? signal, stdout: steady(stdout), stderr: steady(stderr) }));
    });
  }

  async start() {
    const line = this.words(...this.way.arguments).map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    await this.seat.pane.open(this.seat.project, `${this.seat.surroundings()}; exec ${line}`);
    await must(async () => this.way.ready.test(await this.seat.pane.screen()), 90_000,
      async () => `it never became ready:\n${await this.seat.pane.glimpse()}`);
    await pause(4_000);  // Gemini CLI and OpenCode draw a composer before they take keys
  }

  /// asked, with what the dialog says, or ran.
  async step(n) {
    const prompt = promptOf(n), { pane, model } = this.seat;
    await pane.type(prompt);
    await pause(600);
    await pane.press('Enter');
    if (!await until(() => model.asked(prompt), 8_000)) await pane.press('Enter');
    await must(() => model.asked(prompt), 60_000, async () => `the model never got "${prompt}":\n${await pane.glimpse()}`);
    const how = await until(async () => (this.way.asks.test(await pane.screen()) ? 'asked' : model.asked(prompt, 1) && 'ran'),
      kDecidedMs);
    if (how !== 'asked') return { how: how ?? 'nothing' };
    await pause(1_000);
    const dialog = steady(await pane.screen()).split('\n').filter((row) => this.way.asks.test(row) || /^\s*[❯›●]?\s*\d\. /.test(row))
      .map((row) => row.trim());
    await pane.press('Escape');
    await until(async () => !this.way.asks.test(await pane.screen()), 10_000);
    await pause(1_500);
    return { how, dialog };
  }

  async close() { await this.seat.close(); }
}

async function look(cli, wrapped, place) {
  const side = new Side(cli, wrapped, place);
  const seen = {};
  try {
    await side.open();
    const words = side.way.headless('please say it');
    seen['prints without a terminal'] = await side.headless(words);
    seen['the model is given'] = given(side.seat.model);
    const { code, stdout } = await side.headless([...words, ...side.way.json]);
    seen['prints as JSON'] = { code, kinds: kindsOf(stdout) };
    seen['prints with a pipe at stdin'] = await side.headless(words, 'and this\n');
    seen['ends for an unknown option'] = await side.headless(['--no-such-option']);
    await side.start();
    for (const [n, { name }] of kSteps(side.seat.project, side.outside).entries()) seen[name] = await side.step(n);
    seen['files made'] = { made: existsSync(join(side.seat.project, 'made-by-shell')), note: existsSync(join(side.seat.project, 'note-1.txt')) };
  } catch (error) {
    seen.trouble = error.message;
  }
  await side.close();
  rmSync(side.outside, { recursive: true, force: true });
  return seen;
}

/// A value beside the other one: long ones from shortly before the first difference on.
function shown(value, other) {
  const [mine, theirs] = [value, other].map((each) => JSON.stringify(each) ?? 'nothing');
  let at = 0;
  while (at < mine.length && mine[at] === theirs[at]) ++at;
  return mine.length < 4_000 ? mine : `…${mine.slice(Math.max(0, at - 200), at + 800)}…`;
}

const { values, positionals } = (() => {
  try {
    return parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } });
  } catch (error) { return usage(error.message); }
})();
const clis = positionals.length ? positionals : Object.keys(kAgents);
for (const cli of clis) if (!kAgents[cli]) usage(`there is no agent "${cli}"`);
const place = where(usage);
const results = [];
for (const cli of clis) {
  const bare = await look(cli, false, place), wrapped = await look(cli, true, place);
  for (const what of new Set([...Object.keys(bare), ...Object.keys(wrapped)])) {
    const good = JSON.stringify(bare[what]) === JSON.stringify(wrapped[what]) && what !== 'trouble';
    results.push({ cli, what, good, bare: bare[what], wrapped: wrapped[what] });
    console.error(`${cli}, ${what}: ${good ? 'same' : `DIFFERENT\n  bare    ${shown(bare[what], wrapped[what])}\n  wrapped ${shown(wrapped[what], bare[what])}`}`);
  }
}
const row = (...cells) => `| ${cells.join(' | ')} |`;
const short = (value) => (Array.isArray(value) ? `${value.length} requests, ${value.join('').length} bytes` :
  value?.kinds ? `exit ${value.code}, ${value.kinds.length} lines` : value?.how ?? (value?.code !== undefined ? `exit ${value.code}, ${value.stdout.length} bytes` : JSON.stringify(value)));
console.log([row('agent', 'what', 'bare', 'wrapped', ''), row('---', '---', '---', '---', '---'),
  ...results.map(({ cli, what, good, bare, wrapped }) =>
    row(kAgents[cli].title, what, short(bare), short(wrapped), good ? 'same' : 'different'))].join('\n'));
if (values.json) writeFileSync(values.json, `${JSON.stringify({ at: new Date().toISOString(), results }, null, 1)}\n`);
process.exit(results.some(({ good }) => !good) ? 1 : 0);
