import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { Wire } from './harness/wire.mjs';

describe('blocking sends', () => {
  const daemon = sharedDaemon();

  test('2.1.14: sendAndWait() ends with the response of a client that acknowledges with the correlation id', async (t) => {
    const requester = await join(t, daemon, kNew, unique('Requester'));
    const worker = await join(t, daemon, kNew, unique('Worker'));
    worker.onMessage = (from, payload, id, meta) => worker.client.sendAck({ ack_id: id, seq: 1,
      correlationId: meta.sync.correlationId, response: 'OK', responseData: { lines: 3 } });
    const response = await requester.client.sendAndWait(worker.name, 'count', { timeoutMs: 5_000, data: { x: 1 }, thread: 't' });
    assert.deepEqual([response.response, response.responseData], ['OK', { lines: 3 }]);
    const { meta, payload } = worker.messages[0];
    assert.deepEqual({ ...meta.sync, correlationId: '' }, { correlationId: '', timeoutMs: 5_000, blocking: true });
    assert.equal(response.correlationId, meta.sync.correlationId);
    assert.deepEqual(payload, { kind: 'message', body: 'count', data: { x: 1 }, thread: 't' });
    const forwarded = requester.frame('ACK');
    assert.deepEqual([forwarded.from, forwarded.to], [worker.name, requester.name]);
  });

  for (const version of versions) {
    test(`2.1.14: the automatic ACK of a plain ${version} client is no response; the wait times out with an error`,
      async (t) => {
        const requester = await join(t, daemon, kNew, unique('Requester'));
        const worker = await join(t, daemon, version, unique('Worker'));
        await assert.rejects(requester.client.sendAndWait(worker.name, 'count', { timeoutMs: 400 }), /ACK timeout/);
        assert.equal(worker.messages.length, 1);
        const error = await requester.untilError(/TIMEOUT|INTERNAL/);
        assert.equal(error.fatal, false);
      });
  }

  test('a correlation id in use is refused', async (t) => {
    const requester = await Wire.connect(t, daemon.socket);
    await requester.hello(unique('Requester'));
    const worker = await join(t, daemon, kOld, unique('Worker'));
    const sync = { correlationId: unique('same'), timeoutMs: 3_000, blocking: true };
    for (const body of ['one', 'two'])
      requester.sendType('SEND', { kind: 'message', body }, { to: worker.name, payload_meta: { sync } });
    const error = await requester.untilType('ERROR');
    assert.equal(error.payload.fatal, false);
    assert.match(error.payload.message, new RegExp(sync.correlationId));
  });

  test('2.1.14: sendAndWait() to an unknown agent fails at once', async (t) => {
    const requester = await join(t, daemon, kNew, unique('Requester'));
    const waiting = requester.client.sendAndWait('Missing-agent', 'hello?', { timeoutMs: 3_000 });
    waiting.catch(() => {});
    await requester.untilError(/Missing-agent/, 2_000);
    requester.close();
  });

  test('2.1.14: request() returns the data of respond()', async (t) => {
    const requester = await join(t, daemon, kNew, unique('Requester'));
    const worker = await join(t, daemon, kNew, unique('Worker'));
    worker.onMessage = (from, payload, id, meta) => {
      assert.equal(meta.replyTo, payload.data._correlationId);
      worker.client.respond(payload.data._correlationId, from, 'done', { files: 2 });
    };
    const response = await requester.client.request(worker.name, 'do it', { timeout: 5_000, data: { n: 7 }, thread: 'r1' });
    assert.deepEqual([response.from, response.body, response.data.files, response.data._isResponse],
      [worker.name, 'done', 2, true]);
    assert.equal(worker.messages[0].payload.data.n, 7);
    assert.equal(worker.messages[0].payload.thread, 'r1');
  });

  test('2.1.14: request() is answered by an old client that echoes replyTo', async (t) => {
    const requester = await join(t, daemon, kNew, unique('Requester'));
    const worker = await join(t, daemon, kOld, unique('Worker'));
    worker.onMessage = (from, payload, id, meta) =>
      worker.client.sendMessage(from, 'old but good', 'message', undefined, undefined, { replyTo: meta.replyTo });
    const response = await requester.client.request(worker.name, 'do it', { timeout: 5_000 });
    assert.equal(response.body, 'old but good');
  });

  test('2.1.14: concurrent requests get their own responses', async (t) => {
    const requester = await join(t, daemon, kNew, unique('Requester'));
    const worker = await join(t, daemon, kNew, unique('Worker'));
    worker.onMessage = (from, payload) => worker.client.respond(payload.data._correlationId, from, `re ${payload.body}`);
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const responses = await Promise.all(numbers.map((n) => requester.client.request(worker.name, `q${n}`, { timeout: 10_000 })));
    assert.deepEqual(responses.map((response) => response.body), numbers.map((n) => `re q${n}`));
  });
});
