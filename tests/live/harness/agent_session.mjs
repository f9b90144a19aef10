/// One agent with the user's terminal, the relay's host and daemon, and a model. Created for one run of one cell;
/// close() stops everything it started.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kAgents } from './agents.mjs';
import { Model } from './model.mjs';
import { Pane } from './pane.mjs';
import { Relay } from './relay.mjs';
import { ending, kPrompts } from './script.mjs';
import { must, pause, until } from './wait.mjs';

const kReadyMs = 90_000;
const kStateMs = 30_000;
const kRequestMs = 60_000;

/// An interrupt stops everything.
const kOpen = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, async () => {
    await Promise.all([...kOpen].map((session) => session.close()));
    process.exit(130);
  });

export class AgentSession {
  /// environment: {program, tools, state, port}. The agent's home below `state` is reused, because first starts are slow.
  constructor(cli, environment) {
    this.cli = cli;
    this.agent = kAgents[cli];
    this.environment = environment;
    this.scratch = mkdtempSync(join(environment.state, 'run-'));  // Gemini reads no settings below a world-writable directory
    this.project = join(environment.state, `project-${cli}-${environment.port}`);
    this.home = join(environment.state, `home-${cli}-${environment.port}`);
    this.pane = new Pane(`relay-live-${process.pid}-${environment.port}`);
    this.relay = new Relay(environment.program, join(this.scratch, 'relay'), this.project);
    this.model = new Model(join(this.scratch, 'model'), environment.tools, environment.port);
    kOpen.add(this);
  }

  async open(script) {
    await this.prepare(script);
    await this.launch();
    await this.ready();
    await this.warm();
  }

  /// Prepares everything but the agent: its home, the model, the daemon.
  async prepare(script) {
    rmSync(this.project, { recursive: true, force: true });
    for (const directory of [this.relay.home, this.project]) mkdirSync(directory, { recursive: true });
    await promisify(execFile)(join(this.environment.tools, 'prepare_home.sh'),
      [this.cli, this.home, this.project, `${this.environment.port}`]);
    await this.model.start(script(this.agent, this.project));
    await this.relay.up();
  }

  /// The shell commands before the start of the agent.
  shellSetup() {
    return `. ${quoted(`${this.home}/env.sh`)}; ` +
      `export AGENT_RELAY_HOME=${quoted(this.relay.home)} RELAY_HOME=${quoted(this.relay.environment.RELAY_HOME)}`;
  }

  async launch() {
    const args = [this.relay.program, '-n', 'Alice', this.cli, ...this.agent.arguments].map(quoted).join(' ');
    await this.pane.open(this.project, `${this.shellSetup()}; exec ${args}`);
  }

  async ready() {
    await must(async () => {
      const { state, composer } = await this.explain();
      return state === 'idle' && composer?.focused;  // a server may be idle before its screen is drawn
    }, kReadyMs,
      async () => `the agent did not become ready:\n${await this.pane.lastRows()}`);
  }

  get isWarm() { return existsSync(join(this.home, '.warm')); }

  /// The first prompt in a new home may take a minute (OpenCode looks for packages it cannot get).
  async warm() {
    if (this.isWarm) return;
    await this.typeDraft(kPrompts.say(0));
    await this.enterDraft(kPrompts.say(0), kReadyMs);
    await must(() => this.model.replied(ending(0)), kReadyMs, 'the first prompt got no reply');
    await this.state(['idle']);
    writeFileSync(join(this.home, '.warm'), '');
  }

  async close() {
    kOpen.delete(this);
    await this.pane.close();
    await this.relay.down();
    this.model.stop();
    if (process.env.LIVE_KEEP) return;
    await until(() => {  // a hook of the agent may still write its last line
      try {
        rmSync(this.scratch, { recursive: true, force: true });
        return true;
      } catch {
        return false;
      }
    }, 5_000);
  }

  async explain() { return (await this.relay.explain('Alice')) ?? {}; }
  async draft() { return (await this.explain()).composer?.draft ?? ''; }

  async state(wanted, ms = kStateMs) {
    return must(async () => {
      const now = await this.explain();
      return wanted.includes(now.state) && now;
    }, ms, async () => {
      const { state, evidence = [], pending = [] } = await this.explain();
      return [`the state is ${state}, not ${wanted.join(' or ')}:`, ...evidence.map(({ source, detail }) => `${source}: ${detail}`),
        `${pending.length} pending: ${pending[0]?.reason}`, await this.pane.lastRows()].join('\n');
    });
  }

  /// Types a draft and waits until the relay reports it.
  async typeDraft(text) {
    await this.state(['idle']);
    await this.pane.type(text);
    await must(async () => (await this.draft()) === text, 5_000,
      async () => `the draft is "${await this.draft()}", not "${text}":\n${await this.pane.lastRows()}`);
  }

  async enterDraft(text, ms = kRequestMs) {
    await pause(150);
    await this.pane.press('Enter');
    if (await until(() => this.model.promptRequest(text), 4_000)) return;
    if ((await this.draft()) === text) await this.pane.press('Enter');
    await must(() => this.model.promptRequest(text), ms,
      async () => `the model never got the prompt "${text}":\n${await this.pane.lastRows()}`);
  }

  async prompt(text) {
    await this.typeDraft(text);
    await this.enterDraft(text);
  }

  async openDialog(text, pattern = this.agent.dialog) {
    await this.prompt(text);
    await must(async () => pattern.test(await this.pane.screen()), kStateMs,
      async () => `no dialog opened:\n${await this.pane.lastRows()}`);
    await this.state(['blocked']);
  }

  async isDialogOpen() {
    return this.agent.dialog.test(await this.pane.screen()) && (await this.explain()).state === 'blocked';
  }
}

function quoted(argument) { return `'${argument.replaceAll("'", "'\\''")}'`; }
