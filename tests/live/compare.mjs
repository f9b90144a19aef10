/// tests/live/compare CLI… [--json FILE]
///
/// The same agent, bare and wrapped by agent-relay, in the same folder with the same model: its output and exit codes without a
/// terminal, and in a terminal its permissions, its dialogs and the tools it runs. Runs as the user who starts it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kAgents } from './harness/agents.mjs';
import { AgentSession } from './harness/agent_session.mjs';
import { parseCommandLine } from './harness/command_line.mjs';
import { must, pause, until } from './harness/wait.mjs';
import { readEnvironment } from './harness/environment.mjs';

const kRunMs = 120_000;
const kDecidedMs = 30_000;

function usage(message) {
  console.error(`${message}\nusage: tests/live/compare CLI… [--json FILE]\nCLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

/// headless: its arguments for one prompt without a terminal. json: options for a stream of JSON lines. ready: its composer.
/// dialog: any dialog about a tool. read: the tool that reads a file, if it has no special one.
const kRuns = {
  claude: { headless: (prompt) => ['-p', prompt], json: ['--output-format', 'stream-json', '--verbose'],
    ready: /❯/, dialog: /❯ 1\. Yes/, arguments: ['--permission-mode', 'default'] },
  codex: { headless: (prompt) => ['exec', '--skip-git-repo-check', prompt], json: ['--json'], ready: /›/, dialog: /› 1\. Yes/,
    read: (path) => ({ tool: 'shell', command: `cat ${path}` }),
    arguments: ['--no-daemon', '--sandbox', 'read-only', '--ask-for-approval', 'on-request'] },
  gemini: { headless: (prompt) => ['-p', prompt], json: ['-o', 'stream-json'], ready: /Type your message/, dialog: /● 1\. Allow/, arguments: [] },
  opencode: { headless: (prompt) => ['run', prompt], json: ['--format', 'json'], ready: /Ask anything|┃/, dialog: /Permission required/, arguments: [] },
};

/// The tool calls of the model.
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
      turns: [{ text: 'Doing.', tools: [tool] }, { text: `Step ${n} is done.` }] })),
    { match: 'please say it', turns: [{ text: 'A line with ümlauts, "quotes" and\na second line.' }] },
    { match: '', turns: [{ text: 'ok.' }] }] });
}

/// Ids and times that differ from run to run.
const masked = (text) => text
  .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
  .replace(/ses_\w+/g, 'SESSION').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'TIME').replace(/\b\d+(\.\d+)?m?s\b/g, 'SPAN')
  .replace(/^session id: .*$/gm, '')
  .replace(/^\[STARTUP\] .*\n/gm, '');  // Gemini CLI prints profiler errors on a busy machine, also without the relay

/// The kind of each line of a stream of JSON.
const kindsOf = (stdout) => stdout.split('\n').filter(Boolean).map((line) => {
  try {
    const { type, subtype, item } = JSON.parse(line);
    return [type, subtype, item?.type].filter(Boolean).join(' ');
  } catch { return line; }
});

/// Request bodies that the model got, without members that differ per request. Gemini CLI lists the project's folders for its
/// model, among them `.agent-relay`.
function requestBodies(model) {
  return readdirSync(model.dumps).sort().map((name) => {
    const { metadata, client_metadata, prompt_cache_key, ...body } = JSON.parse(readFileSync(join(model.dumps, name), 'utf8'));
    return masked(JSON.stringify(body)).replaceAll('├───.agent-relay/...\\n', '');
  });
}

/// One side of the comparison: the agent bare or wrapped.
class Side {
  constructor(cli, wrapped, environment) {
    Object.assign(this, { cli, wrapped, options: kRuns[cli], session: new AgentSession(cli, environment) });
    this.outside = join(environment.state, `outside-${cli}`);
  }

  async open() {
    mkdirSync(this.outside, { recursive: true });
    writeFileSync(join(this.outside, 'secret.txt'), 'outside\n');
    await this.session.prepare(script(this.outside, this.options.read));
  }

  commandLine(...args) { return this.wrapped ? [this.session.relay.program, '-n', 'Alice', this.cli, ...args] : [this.cli, ...args]; }

  /// Without a terminal: {code, stdout, stderr}
  headless(args, input) {
    return new Promise((resolve) => {
      const child = spawn('bash', ['-c', `${this.session.shellSetup()}; exec "$@"`, 'bash', ...this.commandLine(...args)],
        { cwd: this.session.project, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], timeout: kRunMs });
      let stdout = '', stderr = '';
      child.stdout.on('data', (bytes) => { stdout += bytes; });
      child.stderr.on('data', (bytes) => { stderr += bytes; });
      if (input !== undefined) child.stdin.end(input);
      child.on('close', (code, signal) => resolve({ code: code ?? signal, stdout: masked(stdout), stderr: masked(stderr) }));
    });
  }

  async start() {
    const line = this.commandLine(...this.options.arguments).map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    await this.session.pane.open(this.session.project, `${this.session.shellSetup()}; exec ${line}`);
    await must(async () => this.options.ready.test(await this.session.pane.screen()), 90_000,
      async () => `the agent did not become ready:\n${await this.session.pane.lastRows()}`);
    await pause(4_000);  // Gemini CLI and OpenCode draw a composer before they take keys
  }

  /// Returns `prompted` with the rows of the dialog, or `ran`.
  async step(n) {
    const prompt = promptOf(n), { pane, model } = this.session;
    await pane.type(prompt);
    await pause(600);
    await pane.press('Enter');
    if (!await until(() => model.promptRequest(prompt), 8_000)) await pane.press('Enter');
    await must(() => model.promptRequest(prompt), 60_000, async () => `the model never got "${prompt}":\n${await pane.lastRows()}`);
    const outcome = await until(async () => (this.options.dialog.test(await pane.screen()) ? 'prompted' : model.promptRequest(prompt, 1) && 'ran'),
      kDecidedMs);
    if (outcome !== 'prompted') return { outcome: outcome ?? 'nothing' };
    await pause(1_000);
    const dialog = masked(await pane.screen()).split('\n').filter((row) => this.options.dialog.test(row) || /^\s*[❯›●]?\s*\d\. /.test(row))
      .map((row) => row.trim());
    await pane.press('Escape');
    await until(async () => !this.options.dialog.test(await pane.screen()), 10_000);
    await pause(1_500);
    return { outcome, dialog };
  }

  async close() { await this.session.close(); }
}

async function runSide(cli, wrapped, environment) {
  const side = new Side(cli, wrapped, environment);
  const observed = {};
  try {
    await side.open();
    const args = side.options.headless('please say it');
    observed['prints without a terminal'] = await side.headless(args);
    observed['requests to the model'] = requestBodies(side.session.model);
    const { code, stdout } = await side.headless([...args, ...side.options.json]);
    observed['prints as JSON'] = { code, kinds: kindsOf(stdout) };
    observed['prints with a pipe at stdin'] = await side.headless(args, 'and this\n');
    observed['ends for an unknown option'] = await side.headless(['--no-such-option']);
    await side.start();
    for (const [n, { name }] of kSteps(side.session.project, side.outside).entries()) observed[name] = await side.step(n);
    observed['files made'] = { made: existsSync(join(side.session.project, 'made-by-shell')), note: existsSync(join(side.session.project, 'note-1.txt')) };
  } catch (error) {
    observed.error = error.message;
  }
  await side.close();
  rmSync(side.outside, { recursive: true, force: true });
  return observed;
}

/// A value, or for a long one the part around the first difference.
function excerpt(value, other) {
  const [own, others] = [value, other].map((each) => JSON.stringify(each) ?? 'nothing');
  let at = 0;
  while (at < own.length && own[at] === others[at]) ++at;
  return own.length < 4_000 ? own : `…${own.slice(Math.max(0, at - 200), at + 800)}…`;
}

const { clis: selected, values } = parseCommandLine({ json: { type: 'string' } }, usage);
const clis = selected.length ? selected : Object.keys(kAgents);
const environment = readEnvironment(usage);
const results = [];
for (const cli of clis) {
  const bare = await runSide(cli, false, environment), wrapped = await runSide(cli, true, environment);
  for (const name of new Set([...Object.keys(bare), ...Object.keys(wrapped)])) {
    const good = JSON.stringify(bare[name]) === JSON.stringify(wrapped[name]) && name !== 'error';
    results.push({ cli, name, good, bare: bare[name], wrapped: wrapped[name] });
    console.error(`${cli}, ${name}: ${good ? 'same' : `DIFFERENT\n  bare    ${excerpt(bare[name], wrapped[name])}\n  wrapped ${excerpt(wrapped[name], bare[name])}`}`);
  }
}
const row = (...cells) => `| ${cells.join(' | ')} |`;
const short = (value) => (Array.isArray(value) ? `${value.length} requests, ${value.join('').length} bytes` :
  value?.kinds ? `exit ${value.code}, ${value.kinds.length} lines` : value?.outcome ?? (value?.code !== undefined ? `exit ${value.code}, ${value.stdout.length} bytes` : JSON.stringify(value)));
console.log([row('agent', 'case', 'bare', 'wrapped', ''), row('---', '---', '---', '---', '---'),
  ...results.map(({ cli, name, good, bare, wrapped }) =>
    row(kAgents[cli].title, name, short(bare), short(wrapped), good ? 'same' : 'different'))].join('\n'));
if (values.json) writeFileSync(values.json, `${JSON.stringify({ at: new Date().toISOString(), results }, null, 1)}\n`);
process.exit(results.some(({ good }) => !good) ? 1 : 0);
