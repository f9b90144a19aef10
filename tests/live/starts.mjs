/// tests/live/starts CLI… [--count N] [--messages N] [--load N] [--slow SECONDS] [--drafts] [--json FILE]
///
/// Messages wait, then the agent starts: each must reach the model exactly once, and the history must say what the model's
/// own record says. With --drafts a user types half a line as soon as the composer is drawn. Ends with 1 on a difference.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { kAgents } from './harness/agents.mjs';
import { Load } from './harness/load.mjs';
import { shownText } from './harness/messages.mjs';
import { kPrompts, script } from './harness/script.mjs';
import { Seat } from './harness/seat.mjs';
import { must, pause, Trouble, until } from './harness/waiting.mjs';
import { where } from './harness/where.mjs';

const kStartMs = 90_000;
const kEachMs = 3_000;     // more for each message
const kHistoryMs = 15_000;
const kDraftMs = 4_000;    // longer than the host waits after a user's last key

function usage(sentence) {
  console.error(`${sentence}\nusage: tests/live/starts CLI… [--count N] [--messages N] [--load N] [--slow SECONDS] [--drafts] [--json FILE]\n` +
    `CLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

function options() {
  let given;
  try {
    given = parseArgs({ allowPositionals: true, options: {
      count: { type: 'string', default: '20' }, messages: { type: 'string', default: '3' },
      load: { type: 'string', default: '0' }, slow: { type: 'string' }, drafts: { type: 'boolean', default: false }, json: { type: 'string' } } });
  } catch (error) { usage(error.message); }
  const { values, positionals: clis } = given;
  for (const cli of clis) if (!kAgents[cli]) usage(`there is no agent "${cli}"`);
  if (clis.length === 0) usage('name at least one agent');
  if (values.slow && clis.some((cli) => cli !== 'gemini')) usage('only gemini can be made to start slowly');
  return { clis, place: where(usage), json: values.json, count: Number(values.count),
    messages: Number(values.messages), load: Number(values.load), slow: values.slow, drafts: values.drafts };
}

/// One start. `wrong` holds one sentence per difference.
class Start {
  wrong = [];

  constructor(cli, number, { place, messages, drafts, slow }) {
    Object.assign(this, { cli, number, drafts, slow });
    this.seat = new Seat(cli, place);
    const run = randomBytes(2).toString('hex');
    this.messages = Array.from({ length: messages }, (_, i) => {
      const mark = `k${run}n${String(i).padStart(3, '0')}`;
      return { mark, body: `${mark} waits for you` };
    });
  }

  async run() {
    const { seat } = this;
    await seat.prepare(script(1));
    if (this.slow) startSlowly(seat.home, this.slow);
    await seat.relay.run(['run', '-n', 'Alice', 'true']);  // a known name, offline
    for (const message of this.messages) {
      Object.assign(message, await seat.relay.send('Alice', message.body, 'Bob'));
      if (!message.id) throw new Trouble(`not sent: ${message.error}`);
    }
    await seat.launch();
    this.began = Date.now();
    if (this.drafts) await this.typeEarly();
    const all = () => this.messages.every(({ mark }) => seat.model.reached(mark));
    this.allMs = await until(() => all() && Date.now() - this.began, kStartMs + kEachMs * this.messages.length);
  }

  /// Half a line as soon as there is a composer; Enter some seconds later.
  async typeEarly() {
    const { seat } = this;
    const draft = kPrompts.say(1);
    await must(async () => (await seat.explain()).composer?.focused, kStartMs, 'no composer was drawn');
    await pause(Math.floor(Math.random() * 1_500));
    await seat.pane.type(draft);
    await pause(kDraftMs);
    await seat.pane.press('Enter');
    const whole = await until(() => seat.model.toldExactly(draft), 30_000);
    if (!whole) this.wrong.push(`the draft did not reach the model as typed:\n${await seat.pane.glimpse()}`);
  }

  async judge() {
    for (const { mark, id, body } of this.messages) {
      if (!id) continue;
      let history;
      await until(async () => ['delivered', 'failed', 'in_doubt'].includes((history = await this.seat.relay.ledger(id)).state),
        this.allMs ? kHistoryMs : 1_000);
      const { arrivals } = this.seat.model.arrival(mark);
      const told = `${history.state}, ${history.proof ?? 'no proof'}, ${history.reason ?? 'no reason'}`;
      const say = (words) => this.wrong.push(`${mark}: ${words}; the history says ${told}`);
      if (arrivals !== 1) say(`the model got it ${arrivals} times`);
      if (arrivals > 0 && !this.seat.model.reached(shownText('Bob', id, body))) say('not as it was sent');
      if ((arrivals > 0) !== (history.state === 'delivered')) say('the history differs from the model');
      this.rows = Math.max(this.rows ?? 0, history.history.length);
    }
    if (this.wrong.length) this.wrong.push(await this.seat.pane.glimpse());
  }
}

/// Gemini CLI queues prompts while an MCP server of the user's starts.
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
  } catch (error) { start.wrong.push(error instanceof Trouble ? error.message : error.stack); }
  try { await start.judge(); } finally { await start.seat.close(); }
  console.error(`${cli} ${number}: ${start.allMs ?? '-'} ms, at most ${start.rows} rows; ` +
    (start.wrong.length ? `WRONG: ${start.wrong.join('\n    ')}` : 'good'));
  return { cli, number, allMs: start.allMs, rows: start.rows, wrong: start.wrong };
}

async function warm(cli, place) {
  const seat = new Seat(cli, place);
  try { if (!seat.isWarm) await seat.open(script()); } finally { await seat.close(); }
}

const settings = options();
const results = [];
for (const cli of settings.clis) {
  await warm(cli, settings.place);
  const load = new Load(settings.load);
  for (let number = 1; number <= settings.count; ++number) results.push(await runStart(cli, number, settings));
  load.stop();
  const mine = results.filter((result) => result.cli === cli);
  const times = mine.map(({ allMs }) => allMs).filter(Boolean).sort((a, b) => a - b);
  console.log(`${kAgents[cli].title}: ${mine.filter(({ wrong }) => !wrong.length).length} of ${mine.length} starts right, ` +
    `median ${times[Math.floor(times.length / 2)]} ms, load ${settings.load}${settings.drafts ? ', with drafts' : ''}`);
}
if (settings.json) writeFileSync(settings.json, `${JSON.stringify({ at: new Date().toISOString(), ...settings, results }, null, 1)}\n`);
process.exit(results.some(({ wrong }) => wrong.length) ? 1 : 0);
