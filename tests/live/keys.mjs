/// tests/live/keys CLI… [--count N] [--load N] [--json FILE]
///
/// A message is typed to an idle agent, and a user starts to type 1 to 300 ms after the paste. The model must get the message
/// and the user's prompt separately, each exactly as written. Exit code 1 if they are mixed or a key is lost.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { kAgents } from './harness/agents.mjs';
import { Control } from './harness/control.mjs';
import { Load } from './harness/load.mjs';
import { expectedText } from './harness/messages.mjs';
import { ending, kPrompts, script } from './harness/script.mjs';
import { AgentSession } from './harness/agent_session.mjs';
import { parseCommandLine } from './harness/command_line.mjs';
import { pause, until } from './harness/wait.mjs';
import { readEnvironment } from './harness/environment.mjs';

const kDelays = [1, 5, 10, 20, 40, 60, 80, 100, 130, 160, 200, 250, 300];
const kKeyGapMs = 25;
const kArriveMs = 60_000;

function usage(message) {
  console.error(`${message}\nusage: tests/live/keys CLI… [--count N] [--load N] [--json FILE]\nCLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

function options() {
  const { clis, values } = parseCommandLine({
    count: { type: 'string', default: '26' }, load: { type: 'string', default: '0' }, json: { type: 'string' } }, usage);
  if (clis.length === 0) usage('name at least one agent');
  return { clis, environment: readEnvironment(usage), json: values.json, count: Number(values.count), load: Number(values.load) };
}

/// Waits without the granularity of timers.
async function exactly(ms) {
  const end = performance.now() + ms;
  if (ms > 8) await pause(ms - 6);
  while (performance.now() < end) await new Promise(setImmediate);
}

/// One message and one prompt of the user. The first key follows the first character of the message on the screen or, in
/// every second round, the time at which the message was accepted: the paste may then come before or after it.
async function round(session, control, n) {
  const delay = kDelays[Math.floor((n - 1) / 2) % kDelays.length];
  const by = n % 2 ? 'screen' : 'sending';
  const mark = `k${randomBytes(3).toString('hex')}`;
  const body = `${mark} must stay separate`;
  const prompt = kPrompts.say(n);
  await session.state(['idle']);
  await pause(2_000);  // the user has not typed recently
  control.forget();
  const { id, error } = await session.relay.send('Alice', body, 'Bob');
  if (!id) return { n, delay, by, wrong: [`not sent: ${error}`] };
  if (by === 'screen') await until(() => control.drew(mark), 20_000, 1);
  await exactly(delay);
  for (const character of prompt) {
    control.key(character);
    await exactly(kKeyGapMs);
  }
  await enter(session, control, prompt);
  await until(() => session.model.replied(ending(n)) && session.model.reached(mark), kArriveMs);
  const history = await settled(session, id);
  const { arrivals } = session.model.arrival(mark);
  const wrong = [];
  if (arrivals !== 1) wrong.push(`the model got the message ${arrivals} times; the history has ${history.state}`);
  if (!session.model.receivedExactly(expectedText('Bob', id, body))) wrong.push(`the message came as ${JSON.stringify(session.model.textWith(mark))}`);
  if (!session.model.receivedExactly(prompt)) wrong.push(`the prompt came as ${JSON.stringify(session.model.textWith(`say ${n}`))}`);
  if ((arrivals > 0) !== (history.state === 'delivered')) wrong.push(`the history has ${history.state}, ${history.reason}`);
  if (wrong.length) wrong.push(await session.pane.lastRows());
  return { n, delay, by, rows: history.history.length, wrong };
}

/// Gemini CLI ignores an Enter in the first half second of a turn, also without the relay; a user presses it again.
async function enter(session, control, prompt) {
  for (let tries = 0; tries < 3; ++tries) {
    await pause(300);
    control.key('\r');
    if (await until(() => session.model.promptRequest(prompt), 3_000)) return;
  }
}

async function settled(session, id) {
  let history;
  await until(async () => ['delivered', 'failed', 'in_doubt'].includes((history = await session.relay.trace(id)).state), 15_000);
  return history;
}

async function runAgent(cli, { environment, count, load }) {
  const session = new AgentSession(cli, environment);
  const results = [];
  let burners, control;
  try {
    await session.open(script(...Array.from({ length: count }, (_, i) => i + 1)));
    control = new Control(session.pane.socket);
    await pause(500);
    burners = new Load(load);
    for (let n = 1; n <= count; ++n) {
      const result = await round(session, control, n);
      results.push(result);
      console.error(`${cli} ${n}: ${result.delay} ms after the ${result.by}, ${result.rows} rows; ` +
        (result.wrong.length ? `WRONG: ${result.wrong.join('\n    ')}` : 'good'));
      if (result.wrong.length) break;
    }
  } catch (error) {
    results.push({ n: results.length + 1, wrong: [error.stack] });
    console.error(error.stack);
  } finally {
    burners?.stop();
    control?.close();
    await session.close();
  }
  console.log(`${kAgents[cli].title}: ${results.filter(({ wrong }) => !wrong.length).length} of ${count} separate and complete, load ${load}`);
  return { cli, count, results };
}

const settings = options();
const all = [];
for (const cli of settings.clis) all.push(await runAgent(cli, settings));
if (settings.json) writeFileSync(settings.json, `${JSON.stringify({ at: new Date().toISOString(), all }, null, 1)}\n`);
process.exit(all.some(({ count, results }) => results.length < count || results.some(({ wrong }) => wrong.length)) ? 1 : 0);
