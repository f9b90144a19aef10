import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, unique } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { Wire } from './harness/wire.mjs';

// A daemon that cannot start agents says so at once; a client must never wait for its own timeout.
describe('spawning', () => {
  const daemon = sharedDaemon();

  test('2.1.14: spawn() of something that is not there fails with a reason', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    for (const waitForReady of [false, true]) {
      const result = await alice.client.spawn({ name: unique('Worker'), cli: 'no-such-agent-cli', task: 'work',
        waitForReady }, 5_000);
      assert.equal(result.success, false);
      assert.ok(result.error.length > 5, result.error);
    }
  });

  test('2.1.14: release() of an unknown worker fails with a reason', async (t) => {
    const alice = await join(t, daemon, kNew, unique('Alice'));
    const result = await alice.client.release(unique('Worker'), 'not needed', 5_000);
    assert.equal(result.success, false);
    assert.ok(result.error.length > 5, result.error);
  });

  test('the worker frames of the 2.3 line are answered', async (t) => {
    const alice = await Wire.connect(t, daemon.socket);
    await alice.hello(unique('Alice'));
    for (const [type, payload] of [['SEND_INPUT', { name: 'Ghost', data: 'y' }],
      ['SET_MODEL', { name: 'Ghost', model: 'm' }]]) {
      const answer = await alice.ask(type, payload);
      assert.equal(answer.type, `${type}_RESULT`);
      assert.equal(answer.payload.success, false);
      assert.ok(answer.payload.error.length > 5);
    }
    const workers = await alice.ask('LIST_WORKERS', {});
    assert.equal(workers.type, 'LIST_WORKERS_RESULT');
    assert.deepEqual(workers.payload.workers, []);
  });
});
