import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { Wire } from './harness/wire.mjs';

describe('blocking sends', () => {
  const daemon = sharedDaemon();

  test('2.1.14: sendAndWait() ends with the answer of a client that acknowledges with the correlation id', async (t) => {
    const asker = await join(t, daemon, kNew, unique('Asker'));
    const worker = await join(t, daemon, kNew, unique('Worker'));
    worker.answer = (from, payload, id, meta) => worker.client.sendAck({ ack_id: id, seq: 1,
      correlationId: meta.sync.correlationId, response: 'OK', responseData: { lines: 3 } });
    const answer = await asker.client.sendAndWait(worker.name, 'count', { timeoutMs: 5_000, data: { x: 1 }, thread: 't' });
    assert.deepEqual([answer.response, answer.responseData], ['OK', { lines: 3 }]);
    const { meta, payload } = worker.messages[0];
    assert.deepEqual({ ...meta.sync, correlationId: '' }, { correlationId: '', timeoutMs: 5_000, blocking: true });
    assert.equal(answer.correlationId, meta.sync.correlationId);
    assert.deepEqual(payload, { kind: 'message', body: 'count', data: { x: 1 }, thread: 't' });
    const forwarded = asker.frame('ACK');
    assert.deepEqual([forwarded.from, forwarded.to], [worker.name, asker.name]);
  });

  for (const version of versions) {
    test(`2.1.14: the automatic ACK of a plain ${version} client is no answer; the wait times out and says so`,
      async (t) => {
        const asker = await join(t, daemon, kNew, unique('Asker'));
        const worker = await join(t, daemon, version, unique('Worker'));
        await assert.rejects(asker.client.sendAndWait(worker.name, 'count', { timeoutMs: 400 }), /ACK timeout/);
        assert.equal(worker.messages.length, 1);
        const error = await asker.untilError(/TIMEOUT|INTERNAL/);
        assert.equal(error.fatal, false);
      });
  }

  test('a correlation id in use is refused', async (t) => {
    const asker = await Wire.connect(t, daemon.socket);
    await asker.hello(unique('Asker'));
    const worker = await join(t, daemon, kOld, unique('Worker'));
    const sync = { correlationId: unique('same'), timeoutMs: 3_000, blocking: true };
    for (const body of ['one', 'two'])
      asker.say('SEND', { kind: 'message', body }, { to: worker.name, payload_meta: { sync } });
    const error = await asker.untilType('ERROR');
    assert.equal(error.payload.fatal, false);
    assert.match(error.payload.message, new RegExp(sync.correlationId));
  });

  test('2.1.14: sendAndWait() to nobody is told at once', async (t) => {
    const asker = await join(t, daemon, kNew, unique('Asker'));
    const waiting = asker.client.sendAndWait('Nobody-at-all', 'hello?', { timeoutMs: 3_000 });
    waiting.catch(() => {});
    await asker.untilError(/Nobody-at-all/, 2_000);
    asker.leave();
  });

  test('2.1.14: request() ends with what respond() said', async (t) => {
    const asker = await join(t, daemon, kNew, unique('Asker'));
    const worker = await join(t, daemon, kNew, unique('Worker'));
    worker.answer = (from, payload, id, meta) => {
      assert.equal(meta.replyTo, payload.data._correlationId);
      worker.client.respond(payload.data._correlationId, from, 'done', { files: 2 });
    };
    const answer = await asker.client.request(worker.name, 'do it', { timeout: 5_000, data: { n: 7 }, thread: 'r1' });
    assert.deepEqual([answer.from, answer.body, answer.data.files, answer.data._isResponse],
      [worker.name, 'done', 2, true]);
    assert.equal(worker.messages[0].payload.data.n, 7);
    assert.equal(worker.messages[0].payload.thread, 'r1');
  });

  test('2.1.14: request() is answered by an old client that echoes replyTo', async (t) => {
    const asker = await join(t, daemon, kNew, unique('Asker'));
    const worker = await join(t, daemon, kOld, unique('Worker'));
    worker.answer = (from, payload, id, meta) =>
      worker.client.sendMessage(from, 'old but good', 'message', undefined, undefined, { replyTo: meta.replyTo });
    const answer = await asker.client.request(worker.name, 'do it', { timeout: 5_000 });
    assert.equal(answer.body, 'old but good');
  });

  test('2.1.14: many requests at once find their own answers', async (t) => {
    const asker = await join(t, daemon, kNew, unique('Asker'));
    const worker = await join(t, daemon, kNew, unique('Worker'));
    worker.answer = (from, payload) => worker.client.respond(payload.data._correlationId, from, `re ${payload.body}`);
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => asker.client.request(worker.name, `q${n}`, { timeout: 10_000 })));
    assert.deepEqual(answers.map((answer) => answer.body), numbers.map((n) => `re q${n}`));
  });
});
