/// One cell of the table: an agent, a mode, a situation. Sends in batches while the situation holds, lets the person do
/// what ends it, and asks the model's record what came of it.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { messageBody, shownText } from './messages.mjs';
import { ending, kPrompts, noteFile, script } from './script.mjs';
import { Seat } from './seat.mjs';
import { must, Trouble, until } from './waiting.mjs';

const kBatch = 10;
const kHoldMs = 2_500;      // longer than the host waits after a person's last key
const kPatienceMs = 60_000; // without any arrival: a first request may take long

export async function runCell({ cli, mode, situation }, count, where) {
  const cell = new Cell(cli, mode, situation, count, where);
  try {
    await cell.run();
  } catch (error) {
    cell.trouble = error instanceof Trouble ? error.message : error.stack;
  }
  let result;
  try { result = await cell.judged(); } finally { await cell.seat.close(); }
  return result;
}

class Cell {
  messages = [];
  prompts = 0;          // the person's, numbered from 1
  situationHeld = { of: 0, good: 0 };
  dialogs = { of: 0, good: 0 };
  drafts = { of: 0, good: 0 };
  notes = [];

  constructor(cli, mode, situation, count, where) {
    Object.assign(this, { cli, mode, situation, count });
    this.seat = new Seat(cli, where);
    this.run_mark = randomBytes(2).toString('hex');
    /// Where nothing holds a message back each goes alone; what is held until a person's next move goes ten at a time.
    this.batch = mode === 'manual' ? count : situation === 'idle' && !mode.startsWith('next-') ? 1 : kBatch;
  }

  get model() { return this.seat.model; }
  get joins() { return this.seat.agent.joins?.includes(this.mode) ?? false; }
  get pane() { return this.seat.pane; }

  async run() {
    const prompts = 3 * Math.ceil(this.count / this.batch) + 3;
    await this.seat.open(script(...Array.from({ length: prompts }, (_, i) => i + 1)));
    const modes = await this.seat.relay.hasMode();
    if (!modes && this.mode !== 'on-idle') throw new Trouble('this program has no send --mode');
    this.modeArgument = modes ? this.mode : undefined;
    while (this.messages.length < this.count) {
      if (!await this.sendBatch(Math.min(this.batch, this.count - this.messages.length))) break;
    }
    await this.seat.state(['idle']);
    await this.ask(kPrompts.say);  // one last request shows the whole conversation
  }

  async ask(prompt) {
    const n = ++this.prompts;
    await this.seat.prompt(prompt(n));
    if (!this.joins) await must(() => this.model.replied(ending(n)), 30_000, `no reply to "${prompt(n)}"`);
    await this.seat.state(['idle']);
  }

  /// False when it is no use to go on.
  async sendBatch(size) {
    const situation = await this.enter();
    const batch = await this.send(size);
    ++this.situationHeld.of;
    if (await situation.holds()) ++this.situationHeld.good;
    else this.notes.push(`the situation ended while sending ${batch[0].mark}…`);
    await this.hold(batch, situation);
    await situation.leave();
    await this.trigger(batch);
    if (this.mode === 'manual') return true;
    const all = await this.arrived(batch, kPatienceMs);
    if (!all && await this.impossible(batch)) return false;
    if (!all) this.notes.push(await this.whyMissing(batch));
    await until(async () => (await this.seat.explain()).state === 'idle', 10_000);
    return all || batch.some((message) => this.model.reached(message.mark));
  }

  async send(size) {
    const batch = Array.from({ length: size }, (_, i) => {
      const number = this.messages.length + i;
      const mark = `k${this.run_mark}n${String(number).padStart(3, '0')}`;
      return { number, mark, body: messageBody(mark, number) };
    });
    this.messages.push(...batch);
    await Promise.all(batch.map(async (message) => {
      message.sentAt = Date.now();
      Object.assign(message, await this.seat.relay.send('Alice', message.body, 'Bob', this.modeArgument));
    }));
    return batch;
  }

  /// Until all have come, or nothing more comes for `ms`.
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

  /// Time for whatever might go wrong while a dialog or a draft stands, or a message is to be held back.
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
    await this.seat.state(['idle']);
    return { holds: async () => true, leave: async () => {}, passes: !this.mode.startsWith('next-') };
  }

  async working() {
    const n = ++this.prompts;
    await this.seat.state(['idle']);
    const prompt = (this.mode === 'next-tool-call' ? kPrompts.countAndLook : kPrompts.count)(n);
    await this.seat.prompt(prompt);
    this.waitsFor = { prompt, n };
    await this.seat.state(['working']);
    const running = () => !this.model.events.some((event) =>
      event.ev === 'reply_done' && !event.aborted && event.text.startsWith('Line 1 ') && event.t * 1000 > began);
    const began = this.model.asked(prompt).t * 1000;
    return { holds: async () => running(), passes: true,
      leave: async () => { await must(() => this.mode === 'immediate' || !running(), 30_000, 'the long reply never ended'); } };
  }

  async dialog() {
    const n = ++this.prompts;
    const prompt = kPrompts.write(n);
    await this.seat.openDialog(prompt);
    this.waitsFor = { prompt, n };
    ++this.dialogs.of;
    const file = noteFile(this.seat.project, n);
    const situation = {
      holds: async () => !existsSync(file) && !this.model.asked(prompt, 1) && await this.seat.dialogStands(),
      leave: async () => {
        if (situation.touched || !await situation.holds()) {
          this.notes.push(`the dialog of "${prompt}" was touched:\n${await this.pane.glimpse()}`);
        } else {
          ++this.dialogs.good;
        }
        this.answeredAt = Date.now();
        await this.pane.press(...this.seat.agent.allow);
        await must(() => existsSync(file), 15_000, async () => `the person's answer was not taken:\n${await this.pane.glimpse()}`);
      },
    };
    return situation;
  }

  async draft() {
    const n = ++this.prompts;
    const prompt = (this.mode === 'next-tool-call' ? kPrompts.look : kPrompts.say)(n);
    await this.seat.typeDraft(prompt);
    this.waitsFor = { prompt, n };
    ++this.drafts.of;
    const situation = {
      holds: async () => (await this.pane.screen()).includes(prompt) && !this.model.asked(prompt),
      leave: async () => {
        const stands = await until(async () => (await this.seat.explain()).state === 'typing', 20_000);
        const draft = await this.seat.draft();
        const whole = stands && draft === prompt && !situation.touched;
        await this.seat.enterDraft(prompt);
        if (whole && await until(() => this.model.toldExactly(prompt), 5_000)) ++this.drafts.good;
        else this.notes.push(`the draft "${prompt}" was touched; it was "${draft}" before Enter:\n${await this.pane.glimpse()}`);
      },
    };
    return situation;
  }

  /// What the person does so that held messages may go.
  async trigger() {
    if (this.mode === 'manual') {
      await this.ask(kPrompts.say);
      await this.ask(kPrompts.look);
    }
    const byDraft = this.situation === 'draft';
    if (this.mode === 'next-message' && !byDraft) {
      await this.seat.state(['idle']);
      this.waitsFor = { prompt: kPrompts.say(this.prompts + 1), n: this.prompts + 1 };
      await this.ask(kPrompts.say);
    }
    if (this.mode === 'next-tool-call' && this.situation === 'idle') {
      await this.seat.state(['idle']);
      this.waitsFor = { prompt: kPrompts.look(this.prompts + 1), n: this.prompts + 1 };
      await this.ask(kPrompts.look);
    }
    for (const message of this.messages) message.waitsFor ??= this.waitsFor;
  }

  /// The relay says that this agent cannot do this mode. Then nothing may have come.
  async impossible(batch) {
    const ledgers = await Promise.all(batch.map(({ id }) => this.seat.relay.ledger(id)));
    const refused = ({ state, reason }) => state === 'deferred' && /cannot/.test(reason ?? '');
    this.cannot = ledgers.every(refused) && ledgers[0].reason;
    return this.cannot;
  }

  async whyMissing(batch) {
    const missing = batch.find((message) => !this.model.reached(message.mark));
    if (!missing.id) return `${missing.mark} was not sent: ${missing.error}`;
    const { state, reason } = await this.seat.relay.ledger(missing.id);
    return `${missing.mark} did not come: ${state}, ${reason}`;
  }

  /// Did it come when its mode says?
  inMoment({ waitsFor }, first) {
    if (!first || !waitsFor) return Boolean(first);
    const prompted = this.model.requests.findIndex((request) => request.texts.some((text) => text.includes(waitsFor.prompt)));
    const at = this.model.requests.indexOf(first);
    if (this.mode === 'next-message') return at === prompted;
    if (this.mode === 'next-tool-call') return at > prompted;
    if (this.mode === 'on-idle' && this.situation !== 'draft')
      return first.at > (this.model.replied(ending(waitsFor.n))?.t ?? 0) * 1000;
    return true;
  }

  async judged() {
    const held = this.mode === 'manual' || Boolean(this.cannot);
    for (const message of this.messages) {
      const { arrivals, first, counts } = this.model.arrival(message.mark);
      const ledger = message.id ? await this.settledLedger(message.id, held) : {};
      message.arrivals = arrivals;
      if (arrivals > 1) message.counts = counts;
      message.asSent = Boolean(message.id) && this.shownForms(message).some((text) => this.model.reached(text));
      message.inMoment = this.inMoment(message, first);
      message.tookMs = first && Math.round(first.at - message.sentAt);
      message.ledger = { state: ledger.state, proof: ledger.proof, reason: ledger.reason };
      message.ledgerRight = held ? ledger.state === 'deferred' && Boolean(ledger.reason) && !arrivals
        : arrivals ? ledger.state === 'delivered' && ['submitted', 'seen'].includes(ledger.proof)
          : ledger.state !== 'delivered';
      delete message.waitsFor;
      this.describe(message, held);
    }
    const echoed = (await this.seat.relay.run(['inbox', 'Bob'])).stdout.trim();
    if (/k[0-9a-f]{4}n\d{3}/.test(echoed)) this.notes.push(`an echo was sent to Bob: ${echoed}`);
    const executed = existsSync(`${this.seat.project}/pwned`);
    if (executed) this.notes.push('a message was run as a shell command');
    const answered = Array.from({ length: Math.max(0, this.prompts - 1) }, (_, i) => i + 1);
    const whole = answered.filter((n) => this.model.replied(ending(n)) && this.model.keptAsSaid(ending(n)));
    return { cli: this.cli, mode: this.mode, situation: this.situation, wanted: this.count,
      cannot: this.cannot, trouble: this.trouble, notes: this.notes, messages: this.messages,
      held: this.situationHeld, dialogs: this.dialogs, drafts: this.drafts,
      replies: this.joins ? { of: 0, good: 0 } : { of: answered.length, good: whole.length - this.model.cutReplies.length }, harm: executed || Boolean(echoed) };
  }

  /// As the spec says, or as this agent is known to rewrite it.
  shownForms({ id, body }) {
    const text = shownText('Bob', id, body);
    const { rewrites } = this.seat.agent;
    return rewrites ? [text, rewrites(text)] : [text];
  }

  /// What is wrong with it, for people.
  describe({ mark, body, id, error, arrivals, counts, asSent, inMoment, ledger, ledgerRight }, held) {
    const say = (words) => this.notes.push(`${mark}: ${words}`);
    if (!id) return say(`not sent: ${error}`);
    if (arrivals > 1 || (held && arrivals > 0)) say(`arrived ${arrivals} times: in the requests, ${counts}`);
    if (arrivals && !asSent) {
      const text = this.model.textWith(mark), at = text.indexOf(mark);
      const around = text.slice(Math.max(0, at - 80), at + 200);
      say(`shown as ${JSON.stringify(around)}, sent as ${JSON.stringify(body.slice(0, 200))}`);
    }
    if (arrivals && !inMoment) say('came at another moment than its mode says');
    if (!ledgerRight) say(`the ledger says ${ledger.state}, ${ledger.proof ?? 'no proof'}, ${ledger.reason ?? 'no reason'}`);
  }

  async settledLedger(id, held) {
    const wanted = held ? ['deferred'] : ['delivered', 'failed', 'in_doubt', 'expired', 'dead'];
    let ledger;
    await until(async () => wanted.includes((ledger = await this.seat.relay.ledger(id)).state), this.trouble ? 1_000 : 5_000);
    return ledger;
  }
}
