/// One cell of the table: an agent, a mode, a situation. Sends batches while the situation holds, ends it with the user's
/// keys, and checks the requests of the model.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { messageBody, expectedText } from './messages.mjs';
import { ending, kPrompts, noteFile, script } from './script.mjs';
import { AgentSession } from './agent_session.mjs';
import { must, TestError, until } from './wait.mjs';

const kBatch = 10;
const kHoldMs = 2_500;      // longer than the host waits after a user's last key
const kArrivalTimeoutMs = 60_000; // without any arrival: a first request may take long

export async function runCell({ cli, mode, situation }, count, environment) {
  const cell = new Cell(cli, mode, situation, count, environment);
  try {
    await cell.run();
  } catch (error) {
    cell.error = error instanceof TestError ? error.message : error.stack;
  }
  let result;
  try { result = await cell.evaluate(); } finally { await cell.session.close(); }
  return result;
}

class Cell {
  messages = [];
  prompts = 0;          // of the user, numbered from 1
  situationHeld = { of: 0, good: 0 };
  dialogs = { of: 0, good: 0 };
  drafts = { of: 0, good: 0 };
  notes = [];

  constructor(cli, mode, situation, count, environment) {
    Object.assign(this, { cli, mode, situation, count });
    this.session = new AgentSession(cli, environment);
    this.runMark = randomBytes(2).toString('hex');
    /// Messages that are not held are sent one by one, held ones in batches of ten.
    this.batch = mode === 'manual' ? count : situation === 'idle' && !mode.startsWith('next-') ? 1 : kBatch;
  }

  get model() { return this.session.model; }
  get joins() { return this.session.agent.joins?.includes(this.mode) ?? false; }
  get pane() { return this.session.pane; }

  async run() {
    const prompts = 3 * Math.ceil(this.count / this.batch) + 3;
    await this.session.open(script(...Array.from({ length: prompts }, (_, i) => i + 1)));
    const modes = await this.session.relay.hasMode();
    if (!modes && this.mode !== 'on-idle') throw new TestError('this program has no send --mode');
    this.modeArgument = modes ? this.mode : undefined;
    while (this.messages.length < this.count) {
      if (!await this.sendBatch(Math.min(this.batch, this.count - this.messages.length))) break;
    }
    await this.session.state(['idle']);
    await this.promptAndWait(kPrompts.say);  // one last request shows the whole conversation
  }

  async promptAndWait(prompt) {
    const n = ++this.prompts;
    await this.session.prompt(prompt(n));
    if (!this.joins) await must(() => this.model.replied(ending(n)), 30_000, `no reply to "${prompt(n)}"`);
    await this.session.state(['idle']);
  }

  /// False if the run cannot continue.
  async sendBatch(size) {
    const situation = await this.enter();
    const batch = await this.send(size);
    ++this.situationHeld.of;
    if (await situation.holds()) ++this.situationHeld.good;
    else this.notes.push(`the situation ended while sending ${batch[0].mark}…`);
    await this.hold(batch, situation);
    await situation.end();
    await this.trigger(batch);
    if (this.mode === 'manual') return true;
    const all = await this.arrived(batch, kArrivalTimeoutMs);
    if (!all && await this.isUnsupported(batch)) return false;
    if (!all) this.notes.push(await this.missingReason(batch));
    await until(async () => (await this.session.explain()).state === 'idle', 10_000);
    return all || batch.some((message) => this.model.reached(message.mark));
  }

  async send(size) {
    const batch = Array.from({ length: size }, (_, i) => {
      const number = this.messages.length + i;
      const mark = `k${this.runMark}n${String(number).padStart(3, '0')}`;
      return { number, mark, body: messageBody(mark, number) };
    });
    this.messages.push(...batch);
    await Promise.all(batch.map(async (message) => {
      message.sentAt = Date.now();
      Object.assign(message, await this.session.relay.send('Alice', message.body, 'Bob', this.modeArgument));
    }));
    return batch;
  }

  /// Waits until all have arrived, or none arrives for `ms`.
  async arrived(batch, ms) {
    const count = () => batch.filter((message) => this.model.reached(message.mark)).length;
    let seen = count(), since = Date.now();
    await until(() => {
      const now = count();
      if (now > seen) [seen, since] = [now, Date.now()];
      return seen === batch.length || Date.now() - since > ms;
    }, 600_000);
    return seen === batch.length;
  }

  /// Waits while a dialog or a draft is open or a message is held, and checks that the situation lasts.
  async hold(batch, situation) {
    if (situation.passes) return;
    let misses = 0, touched = false;
    const watch = setInterval(async () => {
      misses = await situation.holds() ? 0 : misses + 1;
      touched ||= misses > 1;
    }, 300);
    await this.arrived(batch, kHoldMs);
    clearInterval(watch);
    if (touched) situation.touched = true;
  }

  async enter() {
    switch (this.situation) {
      case 'idle': return this.idle();
      case 'working': return this.working();
      case 'dialog': return this.dialog();
      case 'draft': return this.draft();
      default: throw new Error(this.situation);
    }
  }

  async idle() {
    await this.session.state(['idle']);
    return { holds: async () => true, end: async () => {}, passes: !this.mode.startsWith('next-') };
  }

  async working() {
    const n = ++this.prompts;
    await this.session.state(['idle']);
    const prompt = (this.mode === 'next-tool-call' ? kPrompts.countAndLook : kPrompts.count)(n);
    await this.session.prompt(prompt);
    this.boundary = { prompt, n };
    await this.session.state(['working']);
    const running = () => !this.model.events.some((event) =>
      event.ev === 'reply_done' && !event.aborted && event.text.startsWith('Line 1 ') && event.t * 1000 > startedAt);
    const startedAt = this.model.promptRequest(prompt).t * 1000;
    return { holds: async () => running(), passes: true,
      end: async () => { await must(() => this.mode === 'immediate' || !running(), 30_000, 'the long reply did not end'); } };
  }

  async dialog() {
    const n = ++this.prompts;
    const prompt = kPrompts.write(n);
    await this.session.openDialog(prompt);
    this.boundary = { prompt, n };
    ++this.dialogs.of;
    const file = noteFile(this.session.project, n);
    const situation = {
      holds: async () => !existsSync(file) && !this.model.promptRequest(prompt, 1) && await this.session.isDialogOpen(),
      end: async () => {
        if (situation.touched || !await situation.holds()) {
          this.notes.push(`the dialog of "${prompt}" was touched:\n${await this.pane.lastRows()}`);
        } else {
          ++this.dialogs.good;
        }
        this.answeredAt = Date.now();
        await this.pane.press(...this.session.agent.allow);
        await must(() => existsSync(file), 15_000, async () => `the dialog did not take the user's answer:\n${await this.pane.lastRows()}`);
      },
    };
    return situation;
  }

  async draft() {
    const n = ++this.prompts;
    const prompt = (this.mode === 'next-tool-call' ? kPrompts.look : kPrompts.say)(n);
    await this.session.typeDraft(prompt);
    this.boundary = { prompt, n };
    ++this.drafts.of;
    const situation = {
      holds: async () => (await this.pane.screen()).includes(prompt) && !this.model.promptRequest(prompt),
      end: async () => {
        const typing = await until(async () => (await this.session.explain()).state === 'typing', 20_000);
        const draft = await this.session.draft();
        const whole = typing && draft === prompt && !situation.touched;
        await this.session.enterDraft(prompt);
        if (whole && await until(() => this.model.receivedExactly(prompt), 5_000)) ++this.drafts.good;
        else this.notes.push(`the draft "${prompt}" was touched; it was "${draft}" before Enter:\n${await this.pane.lastRows()}`);
      },
    };
    return situation;
  }

  /// The user's actions that release held messages.
  async trigger() {
    if (this.mode === 'manual') {
      await this.promptAndWait(kPrompts.say);
      await this.promptAndWait(kPrompts.look);
    }
    const byDraft = this.situation === 'draft';
    if (this.mode === 'next-message' && !byDraft) {
      await this.session.state(['idle']);
      this.boundary = { prompt: kPrompts.say(this.prompts + 1), n: this.prompts + 1 };
      await this.promptAndWait(kPrompts.say);
    }
    if (this.mode === 'next-tool-call' && this.situation === 'idle') {
      await this.session.state(['idle']);
      this.boundary = { prompt: kPrompts.look(this.prompts + 1), n: this.prompts + 1 };
      await this.promptAndWait(kPrompts.look);
    }
    for (const message of this.messages) message.boundary ??= this.boundary;
  }

  /// The relay reports the mode as unsupported by the agent. Then no message may have arrived.
  async isUnsupported(batch) {
    const histories = await Promise.all(batch.map(({ id }) => this.session.relay.trace(id)));
    const isUnsupported = ({ state, reason }) => state === 'deferred' && /cannot|does not support/.test(reason ?? '');
    this.cannot = histories.every(isUnsupported) && histories[0].reason;
    return this.cannot;
  }

  async missingReason(batch) {
    const missing = batch.find((message) => !this.model.reached(message.mark));
    if (!missing.id) return `${missing.mark} was not sent: ${missing.error}`;
    const { state, reason } = await this.session.relay.trace(missing.id);
    return `${missing.mark} did not arrive: ${state}, ${reason}`;
  }

  /// Whether it arrived at the time of its mode.
  inTime({ boundary }, first) {
    if (!first || !boundary) return Boolean(first);
    const prompted = this.model.requests.findIndex((request) => request.texts.some((text) => text.includes(boundary.prompt)));
    const at = this.model.requests.indexOf(first);
    if (this.mode === 'next-message') return at === prompted;
    if (this.mode === 'next-tool-call') return at > prompted;
    if (this.mode === 'on-idle' && this.situation !== 'draft')
      return first.at > (this.model.replied(ending(boundary.n))?.t ?? 0) * 1000;
    return true;
  }

  async evaluate() {
    const held = this.mode === 'manual' || Boolean(this.cannot);
    for (const message of this.messages) {
      const { arrivals, first, counts } = this.model.arrival(message.mark);
      const history = message.id ? await this.settledHistory(message.id, held) : {};
      message.arrivals = arrivals;
      if (arrivals > 1) message.counts = counts;
      message.asSent = Boolean(message.id) && this.expectedForms(message).some((text) => this.model.reached(text));
      message.inTime = this.inTime(message, first);
      message.tookMs = first && Math.round(first.at - message.sentAt);
      message.history = { state: history.state, proof: history.proof, reason: history.reason };
      message.historyRight = held ? history.state === 'deferred' && Boolean(history.reason) && !arrivals
        : arrivals ? history.state === 'delivered' && ['submitted', 'seen'].includes(history.proof)
          : history.state !== 'delivered';
      delete message.boundary;
      this.describe(message, held);
    }
    const echoed = (await this.session.relay.run(['inbox', 'Bob'])).stdout.trim();
    if (/k[0-9a-f]{4}n\d{3}/.test(echoed)) this.notes.push(`an echo was sent to Bob: ${echoed}`);
    const executed = existsSync(`${this.session.project}/pwned`);
    if (executed) this.notes.push('a message was run as a shell command');
    const answered = Array.from({ length: Math.max(0, this.prompts - 1) }, (_, i) => i + 1);
    const whole = answered.filter((n) => this.model.replied(ending(n)) && this.model.hasCompleteReply(ending(n)));
    return { cli: this.cli, mode: this.mode, situation: this.situation, wanted: this.count,
      cannot: this.cannot, error: this.error, notes: this.notes, messages: this.messages,
      held: this.situationHeld, dialogs: this.dialogs, drafts: this.drafts,
      replies: this.joins ? { of: 0, good: 0 } : { of: answered.length, good: whole.length - this.model.cutReplies.length }, harm: executed || Boolean(echoed) };
  }

  /// The text of the specification, and the text as this agent rewrites it.
  expectedForms({ id, body }) {
    const text = expectedText('Bob', id, body);
    const { rewrites } = this.session.agent;
    return rewrites ? [text, rewrites(text)] : [text];
  }

  /// Adds notes about errors of a message.
  describe({ mark, body, id, error, arrivals, counts, asSent, inTime, history, historyRight }, held) {
    const note = (text) => this.notes.push(`${mark}: ${text}`);
    if (!id) return note(`not sent: ${error}`);
    if (arrivals > 1 || (held && arrivals > 0)) note(`arrived ${arrivals} times: in the requests, ${counts}`);
    if (arrivals && !asSent) {
      const text = this.model.textWith(mark), at = text.indexOf(mark);
      const around = text.slice(Math.max(0, at - 80), at + 200);
      note(`received as ${JSON.stringify(around)}, sent as ${JSON.stringify(body.slice(0, 200))}`);
    }
    if (arrivals && !inTime) note('arrived at another time than its mode requires');
    if (!historyRight) note(`the history has ${history.state}, ${history.proof ?? 'no proof'}, ${history.reason ?? 'no reason'}`);
  }

  async settledHistory(id, held) {
    const wanted = held ? ['deferred'] : ['delivered', 'failed', 'in_doubt', 'expired', 'dead'];
    let history;
    await until(async () => wanted.includes((history = await this.session.relay.trace(id)).state), this.error ? 1_000 : 5_000);
    return history;
  }
}
