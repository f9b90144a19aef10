/// tests/live/prompts CLI… [--json FILE]
///
/// A real agent opens a permission or a question. It is answered by `agent-relay approve`, `deny` and `answer`, or first by
/// the user's keys. Checks the requests of the scripted model and the file to be written.
import { existsSync, writeFileSync } from 'node:fs';
import { kAgents } from './harness/agents.mjs';
import { kChoices, kPrompts, noteFile, script } from './harness/script.mjs';
import { AgentSession } from './harness/agent_session.mjs';
import { parseCommandLine } from './harness/command_line.mjs';
import { pause, until } from './harness/wait.mjs';
import { readEnvironment } from './harness/environment.mjs';

const kDenyMessage = 'not on a Sunday, ask again tomorrow';
const kListedMs = 60_000;  // OpenCode's first request is slow
const kTakenMs = 15_000;

function usage(message) {
  console.error(`${message}\nusage: tests/live/prompts CLI… [--json FILE]\nCLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

/// One prompt of the agent, opened by a message of the user.
class PromptCase {
  constructor(session, n, kind) {
    Object.assign(this, { session, n, kind, prompt: kPrompts[kind === 'permission' ? 'write' : 'ask'](n),
      file: noteFile(session.project, n) });
  }

  async listed() {
    const { prompts = [] } = (await this.session.relay.json(`${this.kind}s`)) ?? {};
    return prompts.find((each) => each.agent === 'Alice' && each.kind === this.kind && each.canAnswer !== false);
  }

  async open() {
    await this.session.prompt(this.prompt);
    this.listing = await until(() => this.listed(), kListedMs);
    if (!this.listing) throw new Error(`no ${this.kind} was listed:\n${await this.session.pane.screen()}`);
  }

  async onScreen() {
    const { dialog, question } = this.session.agent;
    const pattern = this.kind === 'permission' ? dialog : question;
    const visible = await until(async () => pattern.test(await this.session.pane.screen()), kListedMs);
    await pause(800);  // as a user would; Claude Code ignores keys just after a dialog opens
    return visible;
  }

  /// The tool result that the model got. Sends one more prompt if the agent ends its turn without a request.
  async result() {
    const at = () => this.session.model.promptRequest(this.prompt, 1);
    const event = await until(at, 6_000);
    if (event) return event.results ?? '';
    await this.session.state(['idle']);
    await this.session.prompt(kPrompts.say(900 + this.n));
    return this.session.model.readRequests().at(-1).texts.join('\n');
  }

  async command(...args) {
    const startedAt = Date.now();
    const result = await this.session.relay.run(args);
    return { ...result, startedAt };
  }

  async closed() { return until(async () => !(await this.listed()), 5_000); }
  written() { return existsSync(this.file); }
}

const errorOf = ({ stderr, code }) => stderr || `exit ${code}`;

const kCases = {
  async 'approved by id'(session, n) {
    const prompt = new PromptCase(session, n, 'permission');
    await prompt.open();
    const { code, stderr, startedAt } = await prompt.command('approve', 'Alice', '--prompt', prompt.listing.id);
    const written = await until(() => prompt.written(), kTakenMs);
    const tookMs = written && Date.now() - startedAt;
    const continued = await until(() => session.model.promptRequest(prompt.prompt, 1), kTakenMs);
    return { good: code === 0 && written && continued && await prompt.closed(), tookMs, stderr };
  },
  async 'approved by name'(session, n) {
    const prompt = new PromptCase(session, n, 'permission');
    await prompt.open();
    const { code, stderr, startedAt } = await prompt.command('approve', 'Alice');
    const written = await until(() => prompt.written(), kTakenMs);
    return { good: code === 0 && written && await prompt.closed(), tookMs: Date.now() - startedAt, stderr };
  },
  async 'denied by id'(session, n) {
    const prompt = new PromptCase(session, n, 'permission');
    await prompt.open();
    const { code, stderr } = await prompt.command('deny', 'Alice', '--prompt', prompt.listing.id,
      '--message', kDenyMessage);
    const result = await prompt.result();
    const hasReason = result.includes(kDenyMessage);
    return { good: code === 0 && !prompt.written() && await prompt.closed(), stderr,
      note: hasReason ? 'the model got the reason' : 'the model did not get the reason' };
  },
  async 'approved by the user first'(session, n) {
    const prompt = new PromptCase(session, n, 'permission');
    await prompt.open();
    const visible = await prompt.onScreen();
    await session.pane.press(...session.agent.allow);
    const written = await until(() => prompt.written(), kTakenMs);
    const closed = await prompt.closed();
    const late = await prompt.command('deny', 'Alice', '--prompt', prompt.listing.id);
    return { good: visible && written && closed && late.code !== 0, note: `a late deny: ${errorOf(late)}` };
  },
  async 'denied by the user first'(session, n) {
    const prompt = new PromptCase(session, n, 'permission');
    await prompt.open();
    const visible = await prompt.onScreen();
    await session.pane.press(...session.agent.deny);
    const closed = await prompt.closed();
    const late = await prompt.command('approve', 'Alice', '--prompt', prompt.listing.id);
    await pause(1_500);
    return { good: visible && closed && late.code !== 0 && !prompt.written(), note: `a late approve: ${errorOf(late)}` };
  },
  async 'question answered'(session, n) {
    if (!session.agent.question) return undefined;
    const prompt = new PromptCase(session, n, 'question');
    await prompt.open();
    const { code, stderr, startedAt } = await prompt.command('answer', 'Alice', kChoices[1], '--prompt', prompt.listing.id);
    const event = await until(() => session.model.promptRequest(prompt.prompt, 1), kTakenMs);
    const result = event?.results ?? '';
    const taken = result.includes(kChoices[1]) && !result.includes(`${kChoices[0]}"`);
    return { good: code === 0 && taken && await prompt.closed(),
      tookMs: event && Math.round(event.t * 1000 - startedAt), stderr, note: result.slice(0, 200) };
  },
  async 'question answered by the user first'(session, n) {
    if (!session.agent.question) return undefined;
    const prompt = new PromptCase(session, n, 'question');
    await prompt.open();
    const visible = await prompt.onScreen();
    await session.pane.press('Enter');
    const event = await until(() => session.model.promptRequest(prompt.prompt, 1), kTakenMs);
    const closed = await prompt.closed();
    const late = await prompt.command('answer', 'Alice', kChoices[1], '--prompt', prompt.listing.id);
    return { good: visible && (event?.results ?? '').includes(kChoices[0]) && closed && late.code !== 0,
      note: `a late answer: ${errorOf(late)}` };
  },
};

async function runAgent(cli, environment) {
  const results = [];
  for (const [name, trial] of Object.entries(kCases)) {
    const session = new AgentSession(cli, environment);
    let result;
    try {
      await session.open(script(1, 901));
      result = await trial(session, 1);
    } catch (error) {
      result = { good: false, note: error.message };
    }
    await session.close();
    if (!result) continue;
    results.push({ cli, name, ...result, good: Boolean(result.good) });
    console.error(`${cli}, ${name}: ${result.good ? 'good' : 'MISSED'} ${result.stderr ?? ''} ${result.note ?? ''}`);
  }
  return results;
}

const { clis: selected, values } = parseCommandLine({ json: { type: 'string' } }, usage);
const clis = selected.length ? selected : Object.keys(kAgents);
const environment = readEnvironment(usage);
const results = [];
for (const cli of clis) results.push(...await runAgent(cli, environment));
const row = (...cells) => `| ${cells.join(' | ')} |`;
console.log([row('agent', 'case', 'result', 'ms', ''), row('---', '---', '---', '---', '---'),
  ...results.map(({ cli, name, good, tookMs, note = '' }) =>
    row(kAgents[cli].title, name, good ? 'good' : 'missed', tookMs || '', note.split('\n')[0]))].join('\n'));
if (values.json) writeFileSync(values.json, `${JSON.stringify({ at: new Date().toISOString(), results }, null, 1)}\n`);
process.exit(results.some((result) => !result.good) ? 1 : 0);
