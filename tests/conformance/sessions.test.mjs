import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, unique, versions } from './harness/clients.mjs';
import { Daemon } from './harness/daemon.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { envelope, frameOf, Wire } from './harness/wire.mjs';

describe('sessions', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`${version}: a lost connection resumes the session without losing messages`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const session = bob.client.currentSessionId;
      alice.client.sendMessage(bob.name, 'before');
      await bob.untilMessages(1);
      bob.disconnect();
      alice.client.sendMessage(bob.name, 'during');
      await bob.until(() => bob.states.filter((state) => state === 'READY').length === 2, 'ready again');
      alice.client.sendMessage(bob.name, 'after');
      await bob.untilMessages(3);
      assert.deepEqual(bob.bodies, ['before', 'during', 'after']);
      assert.deepEqual(bob.framesOf('WELCOME').map((frame) => frame.payload.session_id), [session, session]);
      assert.deepEqual(bob.framesOf('DELIVER').map((frame) => frame.delivery.seq), [1, 2, 3]);
      assert.deepEqual(bob.errors, []);
    });

    test(`${version}: an unknown token gives RESUME_TOO_OLD and then a new session`, async (t) => {
      const bob = await join(t, daemon, version, unique('Bob'));
      const session = bob.client.currentSessionId;
      bob.client.resumeToken = 'no-such-token';
      bob.disconnect();
      await bob.until(() => bob.states.filter((state) => state === 'READY').length === 2, 'ready again');
      const types = bob.frames.map((frame) => frame.type).filter((type) => type === 'ERROR' || type === 'WELCOME');
      assert.deepEqual(types, ['WELCOME', 'ERROR', 'WELCOME']);
      assert.equal(bob.errors[0].code, 'RESUME_TOO_OLD');
      assert.equal(bob.errors[0].fatal, false);
      assert.notEqual(bob.client.currentSessionId, session);
      assert.ok(bob.client.resumeToken);
    });

    test(`${version}: after kill -9 of the daemon clients resume and nothing is lost or repeated`, async (t) => {
      const own = await Daemon.start();
      t.after(() => own.stop());
      const alice = await join(t, own, version, 'Alice');
      const bob = await join(t, own, version, 'Bob');
      const offline = await join(t, own, version, 'Offline');
      const session = bob.client.currentSessionId;
      await offline.barrier();
      offline.close();
      for (let n = 0; n < 100; ++n) {
        alice.client.sendMessage('Bob', `b${n}`);
        alice.client.sendMessage('Offline', `a${n}`);
      }
      await alice.barrier();
      await own.crashAndRestart();
      await alice.untilReady(10_000);
      await bob.untilReady(10_000);
      await bob.untilMessages(100);
      assert.equal(bob.client.currentSessionId, session);
      alice.client.sendMessage('Bob', 'b100');
      await bob.untilMessages(101);
      assert.deepEqual(bob.bodies, Array.from({ length: 101 }, (_, n) => `b${n}`));
      const returned = await join(t, own, version, 'Offline');
      await returned.untilMessages(100);
      assert.deepEqual(returned.bodies, Array.from({ length: 100 }, (_, n) => `a${n}`));
    });
  }

  test('an unacknowledged delivery is resent with its id and number', async (t) => {
    const alice = await Wire.connect(t, daemon.socket);
    await alice.hello(unique('Alice'));
    const name = unique('Bob');
    const bob = await Wire.connect(t, daemon.socket);
    const { resume_token, session_id } = await bob.hello(name);
    for (const body of ['one', 'two', 'three']) alice.sendType('SEND', { kind: 'message', body }, { to: name });
    await bob.untilFrame((frame) => frame.payload.body === 'three', 'three deliveries');
    const first = bob.framesOf('DELIVER');
    bob.acknowledge(first[0]);
    await bob.request('STATUS', {});
    bob.socket.destroy();
    const again = await Wire.connect(t, daemon.socket);
    assert.equal((await again.hello(name, { session: { resume_token } })).session_id, session_id);
    await again.untilFrame((frame) => frame.payload.body === 'three', 'the replay');
    const identity = (frame) => [frame.id, frame.delivery.seq, frame.delivery.session_id, frame.payload.body];
    assert.deepEqual(again.framesOf('DELIVER').map(identity), first.slice(1).map(identity));
  });

  test('a SEND in the same write as a resuming HELLO is handled after it', async (t) => {
    const bob = await Wire.connect(t, daemon.socket);
    const bobName = unique('Bob');
    await bob.hello(bobName);
    const name = unique('Alice');
    const alice = await Wire.connect(t, daemon.socket);
    const { resume_token } = await alice.hello(name);
    alice.socket.destroy();
    const again = await Wire.connect(t, daemon.socket);
    const capabilities = { ack: true, resume: true, max_inflight: 256, supports_topics: true };
    again.write(Buffer.concat([
      envelope('HELLO', { agent: name, capabilities, session: { resume_token } }),
      envelope('SEND', { kind: 'message', body: 'at once' }, { to: bobName }),
    ].map((frame) => frameOf(JSON.stringify(frame)))));
    const deliver = await bob.untilType('DELIVER');
    assert.deepEqual([deliver.from, deliver.payload.body], [name, 'at once']);
    assert.deepEqual(again.framesOf('ERROR'), []);
  });

  test('RESUME and SYNC of the specification work, although no published client uses them', async (t) => {
    const alice = await Wire.connect(t, daemon.socket);
    const aliceName = unique('Alice');
    await alice.hello(aliceName);
    const name = unique('Bob');
    const bob = await Wire.connect(t, daemon.socket);
    const { session_id, resume_token } = await bob.hello(name);
    for (const body of ['one', 'two', 'three']) alice.sendType('SEND', { kind: 'message', body }, { to: name, topic: 'chat' });
    await bob.untilFrame((frame) => frame.payload.body === 'three', 'three deliveries');
    bob.socket.destroy();
    const again = await Wire.connect(t, daemon.socket);
    again.sendType('RESUME', { session_id, agent: name, resume_token, streams: { chat: { last_seq: 1 } } });
    const sync = await again.untilType('SYNC');
    assert.equal(sync.payload.session_id, session_id);
    const stream = sync.payload.streams.find((one) => one.topic === 'chat' && one.peer === aliceName);
    assert.deepEqual([stream?.last_seq, stream?.server_last_seq], [1, 3]);
    await again.untilFrame((frame) => frame.payload.body === 'three', 'the replay');
    assert.deepEqual(again.framesOf('DELIVER').map((frame) => frame.delivery.seq), [2, 3]);
  });
});
