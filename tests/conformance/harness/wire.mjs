// A raw connection, for frames that no published client sends: old ids, topics, malformed frames.
import net from 'node:net';
import { until } from './until.mjs';

export const frameOf = (text) => {
  const body = Buffer.isBuffer(text) ? text : Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
};

let counter = 0;
export const envelope = (type, payload = {}, more = {}) =>
  ({ v: 1, type, id: `w-${process.pid}-${++counter}`, ts: Date.now(), ...more, payload });

export class Wire {
  static async connect(t, socketPath) {
    const wire = new Wire();
    wire.frames = [];
    wire.closed = false;
    wire.pending = Buffer.alloc(0);
    wire.headerBytes = 4;
    wire.socket = net.createConnection(socketPath);
    wire.socket.on('data', (bytes) => wire.take(bytes));
    wire.socket.on('close', () => { wire.closed = true; });
    wire.socket.on('error', () => {});
    t.after(() => wire.socket.destroy());
    await new Promise((resolve, reject) => {
      wire.socket.once('connect', resolve);
      wire.socket.once('error', reject);
    });
    return wire;
  }

  take(bytes) {
    this.pending = Buffer.concat([this.pending, bytes]);
    while (this.pending.length >= this.headerBytes) {
      const length = this.pending.readUInt32BE(this.headerBytes - 4);
      if (this.pending.length < this.headerBytes + length) return;
      this.frames.push(JSON.parse(this.pending.subarray(this.headerBytes, this.headerBytes + length).toString()));
      this.pending = this.pending.subarray(this.headerBytes + length);
      const last = this.frames.at(-1);
      if (last.type === 'PING') this.sendType('PONG', last.payload);
    }
  }

  write(bytes) { this.socket.write(bytes); }
  send(frame) { this.write(frameOf(JSON.stringify(frame))); return frame; }
  sendType(type, payload, more) { return this.send(envelope(type, payload, more)); }

  async hello(agent, { session, ...more } = {}) {
    this.sendType('HELLO', { agent, session, ...more,
      capabilities: { ack: true, resume: true, max_inflight: 256, supports_topics: true, ...more.capabilities } });
    return (await this.untilFrame((frame) => frame.type === 'WELCOME', 'WELCOME')).payload;
  }

  acknowledge(deliver) { this.sendType('ACK', { ack_id: deliver.id, seq: deliver.delivery.seq }); }

  framesOf(type) { return this.frames.filter((frame) => frame.type === type); }
  untilFrame(condition, description, ms) {
    return until(() => this.frames.find(condition),
      () => `${description}; closed: ${this.closed}; frames: ${JSON.stringify(this.frames.slice(-8)).slice(0, 2000)}`, ms);
  }
  untilType(type, ms) { return this.untilFrame((frame) => frame.type === type, `a ${type} frame`, ms); }
  untilClosed(ms) {
    return until(() => this.closed, () => `the daemon closes; frames: ${JSON.stringify(this.frames).slice(0, 2000)}`, ms);
  }

  // Sends a request and returns the response with the same id.
  async request(type, payload, ms) {
    const sent = this.sendType(type, payload);
    return this.untilFrame((frame) => frame.id === sent.id || frame.payload.replyTo === sent.id, `response to ${type}`,
      ms);
  }
}
