// The unchanged published clients, with a record of the frames they receive.
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { until } from './until.mjs';

const modules = process.env.RELAY_CLIENTS;
export const kOld = '1.6.0';
export const kNew = '2.1.14';
const classes = {
  [kOld]: (await import(path.join(modules, 'agent-relay/dist/wrapper/client.js'))).RelayClient,
  [kNew]: (await import(path.join(modules, '@agent-relay/sdk/dist/client.js'))).RelayClient,
};
export const versions = Object.keys(classes);

// 1.6.0 prints a line for each message whatever `quiet` is; keep that out of the report.
for (const method of ['log', 'warn', 'error']) {
  const print = console[method];
  console[method] = (...words) => { if (!/^\[(client|relay-client|sdk)/.test(String(words[0]))) print(...words); };
}

let counter = 0;
export const unique = (name) => `${name}${++counter}`;

// One published client and everything it received.
export class TestClient {
  constructor(version, daemon, name, config = {}) {
    this.version = version;
    this.name = name;
    this.frames = [];
    this.messages = [];
    this.posts = [];
    this.states = [];
    this.client = new classes[version]({ socketPath: daemon.socket, agentName: name, quiet: true, ...config });
    const process = this.client.processFrame.bind(this.client);
    this.client.processFrame = (frame) => { this.frames.push(frame); process(frame); };
    this.client.onMessage = (from, payload, id, meta, originalTo) => {
      this.messages.push({ from, payload, id, meta, originalTo });
      this.onMessage?.(from, payload, id, meta, originalTo);
    };
    this.client.onChannelMessage = (from, channel, body, envelope) => this.posts.push({ from, channel, body, envelope });
    this.client.onStateChange = (state) => this.states.push(state);
    this.client.onError = () => {};
  }

  get bodies() { return this.messages.map((message) => message.payload.body); }
  frame(type) { return this.frames.find((frame) => frame.type === type); }
  framesOf(type) { return this.frames.filter((frame) => frame.type === type); }
  get errors() { return this.framesOf('ERROR').map((frame) => frame.payload); }

  until(condition, description, ms) {
    return until(condition, () => `${this.name} (${this.version}): ${description}; frames: ${summary(this.frames)}`, ms);
  }
  untilReady(ms) { return this.until(() => this.client.state === 'READY', 'ready', ms); }
  untilMessages(count, ms) { return this.until(() => this.messages.length >= count, `${count} messages`, ms); }
  untilFrame(type, ms) { return this.until(() => this.frame(type), `a ${type} frame`, ms); }
  untilError(pattern, ms) {
    return this.until(() => this.errors.find((error) => pattern.test(`${error.code} ${error.message}`)),
      `an ERROR like ${pattern}`, ms);
  }

  // Waits until the daemon has handled everything that this client sent: it handles the frames of a connection in order, and
  // answers STATUS to any client (1.6.0 ignores the response, but it is recorded).
  async barrier() {
    const id = `barrier-${randomUUID()}`;
    this.client.send({ v: 1, type: 'STATUS', id, ts: Date.now(), payload: {} });
    await this.until(() => this.frames.some((frame) => frame.type === 'STATUS_RESPONSE' && frame.id === id),
      'the response to STATUS');
  }

  disconnect() { this.client.socket.destroy(); }
  close() { this.client.destroy(); }
}

const summary = (frames) => JSON.stringify(frames.slice(-8).map((frame) => ({
  type: frame.type, id: frame.id, from: frame.from, payload: frame.payload, delivery: frame.delivery,
}))).slice(0, 2000);

// A connected client that is closed when its test ends.
export async function join(t, daemon, version, name, config) {
  const client = new TestClient(version, daemon, name, config);
  t.after(() => client.close());
  await client.client.connect();
  return client;
}
