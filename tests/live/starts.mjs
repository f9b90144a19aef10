/// tests/live/starts CLI… [--count N] [--messages N] [--load N] [--slow SECONDS] [--drafts] [--json FILE]
///
/// Messages are pending, then the agent starts: each must reach the model exactly once, and the history must agree with the
/// requests of the model. With --drafts a user types a draft as soon as the composer is drawn. Exit code 1 on a difference.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kAgents } from './harness/agents.mjs';
import { Load } from './harness/load.mjs';
import { expectedText } from './harness/messages.mjs';
import { kPrompts, script } from './harness/script.mjs';
import { AgentSession } from './harness/agent_session.mjs';
import { parseCommandLine } from './harness/command_line.mjs';
import { must, pause, TestError, until } from './harness/wait.mjs';
import { readEnvironment } from './harness/environment.mjs';

const kStartMs = 90_000;
const kEachMs = 3_000;     // more for each message
const kHistoryMs = 15_000;
const kDraftMs = 4_000;    // longer than the host waits after a user's last key

function usage(message) {
  console.error(`${message}\nusage: tests/live/starts CLI… [--count N] [--messages N] [--load N] [--slow SECONDS] [--drafts] [--json FILE]\n` +
    `CLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

function options() {
  const { clis, values } = parseCommandLine({
    count: { type: 'string', default: '20' }, messages: { type: 'string', default: '3' },
      load: { type: 'string', default: '0' }, slow: { type: 'string' }, drafts: { type: 'boolean', default: false }, json: { type: 'string' } }, usage);
  if (clis.length === 0) usage('name at least one agent');
  if (values.slow && clis.some((cli) => cli !== 'gemini')) usage('only gemini can be made to start slowly');
  return { clis, environment: readEnvironment(usage), json: values.json, count: Number(values.count),
    messages: Number(values.messages), load: Number(values.load), slow: values.slow, drafts: values.drafts };
}

/// One start. `wrong` holds one message per difference.
class Start {
  wrong = [];

  constructor(cli, number, { environment, messages, drafts, slow }) {
    Object.assign(this, { cli, number, drafts, slow });
    this.session = new AgentSession(cli, environment);
    const run = randomBytes(2).toString('hex');
    this.messages = Array.from({ length: messages }, (_, i) => {
      const mark = `k${run}n${String(i).padStart(3, '0')}`;
      return { mark, body: `${mark} is pending` };
    });
  }

  async run() {
    const { session } = this;
    await session.prepare(script(1));
    if (this.slow) startSlowly(session.home, this.slow);
    await session.relay.run(['run', '-n', 'Alice', 'true']);  // registers the name, offline
    for (const message of this.messages) {
      Object.assign(message, await session.relay.send('Alice', message.body, 'Bob'));
      if (!message.id) throw new TestError(`not sent: ${message.error}`);
    }
    await session.launch();
    this.startedAt = Date.now();
    if (this.drafts) await this.typeEarly();
    const all = () => this.messages.every(({ mark }) => session.model.reached(mark));
    this.allMs = await until(() => all() && Date.now() - this.startedAt, kStartMs + kEachMs * this.messages.length);
  }

  /// Types a draft as soon as there is a composer, and Enter some seconds later.
  async typeEarly() {
    const { session } = this;
    const draft = kPrompts.say(1);
    await must(async () => (await session.explain()).composer?.focused, kStartMs, 'no composer was drawn');
    await pause(Math.floor(Math.random() * 1_500));
    await session.pane.type(draft);
    await pause(kDraftMs);
    await session.pane.press('Enter');
    const whole = await until(() => session.model.receivedExactly(draft), 30_000);
    if (!whole) this.wrong.push(`the draft did not reach the model as typed:\n${await session.pane.lastRows()}`);
  }

  async compare() {
    for (const { mark, id, body } of this.messages) {
      if (!id) continue;
      let history;
      await until(async () => ['delivered', 'failed', 'in_doubt'].includes((history = await this.session.relay.trace(id)).state),
        this.allMs ? kHistoryMs : 1_000);
      const { arrivals } = this.session.model.arrival(mark);
      const recorded = `${history.state}, ${history.proof ?? 'no proof'}, ${history.reason ?? 'no reason'}`;
      const report = (text) => this.wrong.push(`${mark}: ${text}; the history has ${recorded}`);
      if (arrivals !== 1) report(`the model got it ${arrivals} times`);
      if (arrivals > 0 && !this.session.model.reached(expectedText('Bob', id, body))) report('the text was changed');
      if ((arrivals > 0) !== (history.state === 'delivered')) report('the history differs from the model');
      this.rows = Math.max(this.rows ?? 0, history.history.length);
    }
    if (this.wrong.length) this.wrong.push(await this.session.pane.lastRows());
  }
}

/// Gemini CLI queues prompts while an MCP server starts.
function startSlowly(home, seconds) {
  const file = join(home, '.gemini/settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  settings.mcpServers = { slow: { command: 'sleep', args: [seconds], timeout: Number(seconds) * 1000 } };
  writeFileSync(file, JSON.stringify(settings));
}

async function runStart(cli, number, settings) {
  const start = new Start(cli, number, settings);
  try {
    await start.run();
  } catch (error) { start.wrong.push(error instanceof TestError ? error.message : error.stack); }
  try { await start.compare(); } finally { await start.session.close(); }
  console.error(`${cli} ${number}: ${start.allMs ?? '-'} ms, at most ${start.rows} rows; ` +
    (start.wrong.length ? `WRONG: ${start.wrong.join('\n    ')}` : 'good'));
  return { cli, number, allMs: start.allMs, rows: start.rows, wrong: start.wrong };
}

async function warm(cli, environment) {
  const session = new AgentSession(cli, environment);
  try { if (!session.isWarm) await session.open(script()); } finally { await session.close(); }
}

const settings = options();
const results = [];
for (const cli of settings.clis) {
  await warm(cli, settings.environment);
  const load = new Load(settings.load);
  for (let number = 1; number <= settings.count; ++number) results.push(await runStart(cli, number, settings));
  load.stop();
  const own = results.filter((result) => result.cli === cli);
  const times = own.map(({ allMs }) => allMs).filter(Boolean).sort((a, b) => a - b);
  console.log(`${kAgents[cli].title}: ${own.filter(({ wrong }) => !wrong.length).length} of ${own.length} starts correct, ` +
    `median ${times[Math.floor(times.length / 2)]} ms, load ${settings.load}${settings.drafts ? ', with drafts' : ''}`);
}
if (settings.json) writeFileSync(settings.json, `${JSON.stringify({ at: new Date().toISOString(), ...settings, results }, null, 1)}\n`);
process.exit(results.some(({ wrong }) => wrong.length) ? 1 : 0);
