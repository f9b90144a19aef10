/// tests/live/prompts CLI… [--json FILE]
///
/// A real agent asks for a permission or an answer; it comes from `agent-relay approve`, `deny` and `answer`, or from
/// the person's own keys first. Judged by the scripted model's record and by the file that was to be written.
import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { kAgents } from './harness/agents.mjs';
import { kChoices, kPrompts, noteFile, script } from './harness/script.mjs';
import { Seat } from './harness/seat.mjs';
import { pause, until } from './harness/waiting.mjs';
import { where } from './harness/where.mjs';

const kWordsOfRefusal = 'not on a Sunday, ask again tomorrow';
const kListedMs = 60_000;  // OpenCode's first request takes its time
const kTakenMs = 15_000;

function usage(sentence) {
  console.error(`${sentence}\nusage: tests/live/prompts CLI… [--json FILE]\nCLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

/// One prompt of the agent's, opened by the person's words.
class Asking {
  constructor(seat, n, kind) {
    Object.assign(this, { seat, n, kind, prompt: kPrompts[kind === 'permission' ? 'write' : 'ask'](n),
      file: noteFile(seat.project, n) });
  }

  async listed() {
    const { prompts = [] } = (await this.seat.relay.json(`${this.kind}s`)) ?? {};
    return prompts.find((each) => each.agent === 'Alice' && each.kind === this.kind && each.canAnswer !== false);
  }

  async open() {
    await this.seat.prompt(this.prompt);
    this.listing = await until(() => this.listed(), kListedMs);
    if (!this.listing) throw new Error(`no ${this.kind} was listed:\n${await this.seat.pane.screen()}`);
  }

  async onScreen() {
    const { dialog, question } = this.seat.agent;
    const pattern = this.kind === 'permission' ? dialog : question;
    const shown = await until(async () => pattern.test(await this.seat.pane.screen()), kListedMs);
    await pause(800);  // a person reads first; Claude Code takes no key in a dialog's first moment
    return shown;
  }

  /// What the tool gave back to the model; asks for one more request where the agent ends its turn without one.
  async result() {
    const at = () => this.seat.model.asked(this.prompt, 1);
    const event = await until(at, 6_000);
    if (event) return event.results ?? '';
    await this.seat.state(['idle']);
    await this.seat.prompt(kPrompts.say(900 + this.n));
    return this.seat.model.look().at(-1).texts.join('\n');
  }

  async command(...words) {
    const began = Date.now();
    const answer = await this.seat.relay.run(words);
    return { ...answer, began };
  }

  async gone() { return until(async () => !(await this.listed()), 5_000); }
  written() { return existsSync(this.file); }
}

const said = ({ stderr, code }) => stderr || `exit ${code}`;

const kCases = {
  async 'allowed by us'(seat, n) {
    const asking = new Asking(seat, n, 'permission');
    await asking.open();
    const { code, stderr, began } = await asking.command('approve', 'Alice', '--prompt', asking.listing.id);
    const written = await until(() => asking.written(), kTakenMs);
    const tookMs = written && Date.now() - began;
    const continued = await until(() => seat.model.asked(asking.prompt, 1), kTakenMs);
    return { good: code === 0 && written && continued && await asking.gone(), tookMs, says: stderr };
  },
  async 'allowed by us, by name'(seat, n) {
    const asking = new Asking(seat, n, 'permission');
    await asking.open();
    const { code, stderr, began } = await asking.command('approve', 'Alice');
    const written = await until(() => asking.written(), kTakenMs);
    return { good: code === 0 && written && await asking.gone(), tookMs: Date.now() - began, says: stderr };
  },
  async 'denied by us'(seat, n) {
    const asking = new Asking(seat, n, 'permission');
    await asking.open();
    const { code, stderr } = await asking.command('deny', 'Alice', '--prompt', asking.listing.id,
      '--message', kWordsOfRefusal);
    const result = await asking.result();
    const told = result.includes(kWordsOfRefusal);
    return { good: code === 0 && !asking.written() && await asking.gone(), says: stderr,
      note: told ? 'the model was told why' : 'the model was not told why' };
  },
  async 'allowed by the person first'(seat, n) {
    const asking = new Asking(seat, n, 'permission');
    await asking.open();
    const shown = await asking.onScreen();
    await seat.pane.press(...seat.agent.allow);
    const written = await until(() => asking.written(), kTakenMs);
    const gone = await asking.gone();
    const late = await asking.command('deny', 'Alice', '--prompt', asking.listing.id);
    return { good: shown && written && gone && late.code !== 0, note: `a late deny: ${said(late)}` };
  },
  async 'denied by the person first'(seat, n) {
    const asking = new Asking(seat, n, 'permission');
    await asking.open();
    const shown = await asking.onScreen();
    await seat.pane.press(...seat.agent.deny);
    const gone = await asking.gone();
    const late = await asking.command('approve', 'Alice', '--prompt', asking.listing.id);
    await pause(1_500);
    return { good: shown && gone && late.code !== 0 && !asking.written(), note: `a late approve: ${said(late)}` };
  },
  async 'question answered by us'(seat, n) {
    if (!seat.agent.question) return undefined;
    const asking = new Asking(seat, n, 'question');
    await asking.open();
    const { code, stderr, began } = await asking.command('answer', 'Alice', kChoices[1], '--prompt', asking.listing.id);
    const event = await until(() => seat.model.asked(asking.prompt, 1), kTakenMs);
    const result = event?.results ?? '';
    const taken = result.includes(kChoices[1]) && !result.includes(`${kChoices[0]}"`);
    return { good: code === 0 && taken && await asking.gone(),
      tookMs: event && Math.round(event.t * 1000 - began), says: stderr, note: result.slice(0, 200) };
  },
  async 'question answered by the person first'(seat, n) {
    if (!seat.agent.question) return undefined;
    const asking = new Asking(seat, n, 'question');
    await asking.open();
    const shown = await asking.onScreen();
    await seat.pane.press('Enter');
    const event = await until(() => seat.model.asked(asking.prompt, 1), kTakenMs);
    const gone = await asking.gone();
    const late = await asking.command('answer', 'Alice', kChoices[1], '--prompt', asking.listing.id);
    return { good: shown && (event?.results ?? '').includes(kChoices[0]) && gone && late.code !== 0,
      note: `a late answer: ${said(late)}` };
  },
};

async function runAgent(cli, place) {
  const results = [];
  for (const [name, trial] of Object.entries(kCases)) {
    const seat = new Seat(cli, place);
    let result;
    try {
      await seat.open(script(1, 901));
      result = await trial(seat, 1);
    } catch (error) {
      result = { good: false, note: error.message };
    }
    await seat.close();
    if (!result) continue;
    results.push({ cli, name, ...result, good: Boolean(result.good) });
    console.error(`${cli}, ${name}: ${result.good ? 'good' : 'MISSED'} ${result.says ?? ''} ${result.note ?? ''}`);
  }
  return results;
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
for (const cli of clis) results.push(...await runAgent(cli, place));
const row = (...cells) => `| ${cells.join(' | ')} |`;
console.log([row('agent', 'case', 'result', 'ms', ''), row('---', '---', '---', '---', '---'),
  ...results.map(({ cli, name, good, tookMs, note = '' }) =>
    row(kAgents[cli].title, name, good ? 'good' : 'missed', tookMs || '', note.split('\n')[0]))].join('\n'));
if (values.json) writeFileSync(values.json, `${JSON.stringify({ at: new Date().toISOString(), results }, null, 1)}\n`);
process.exit(results.some((result) => !result.good) ? 1 : 0);
