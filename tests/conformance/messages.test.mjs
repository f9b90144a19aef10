import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, unique, versions } from './harness/clients.mjs';
import { Daemon } from './harness/daemon.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('messages', () => {
  const daemon = sharedDaemon();

  for (const [sends, receives] of [[kOld, kOld], [kOld, kNew], [kNew, kOld], [kNew, kNew]]) {
    test(`${sends} to ${receives}: sendMessage() arrives unchanged`, async (t) => {
      const alice = await join(t, daemon, sends, unique('Alice'));
      const bob = await join(t, daemon, receives, unique('Bob'));
      const data = { list: [1, 2.5, null, true], nested: { key: 'välue \u{1F600} "quoted" \\ \n' } };
      const meta = { requires_ack: true, ttl_ms: 60_000, importance: 80, replyTo: 'earlier' };
      assert.equal(alice.client.sendMessage(bob.name, 'hello\tBob', 'action', data, 'thread-1', meta), true);
      await bob.untilMessages(1);
      const [message] = bob.messages;
      assert.equal(message.from, alice.name);
      assert.deepEqual(message.payload, { kind: 'action', body: 'hello\tBob', data, thread: 'thread-1' });
      assert.deepEqual(message.meta, meta);
      assert.equal(message.originalTo, undefined);
      const { delivery, to } = bob.frame('DELIVER');
      assert.equal(to, bob.name);
      assert.equal(delivery.seq, 1);
      assert.equal(delivery.session_id, bob.client.currentSessionId);
    });
  }

  for (const version of versions) {
    test(`${version}: every kind of message arrives, numbered per sender`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const carol = await join(t, daemon, version, unique('Carol'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const kinds = ['message', 'action', 'state', 'thinking'];
      for (const kind of kinds) alice.client.sendMessage(bob.name, kind, kind);
      carol.client.sendMessage(bob.name, 'from Carol');
      await bob.untilMessages(5);
      const from = (name) => bob.framesOf('DELIVER').filter((frame) => frame.from === name);
      assert.deepEqual(from(alice.name).map((frame) => frame.payload.kind), kinds);
      assert.deepEqual(from(alice.name).map((frame) => frame.delivery.seq), [1, 2, 3, 4]);
      assert.deepEqual(from(carol.name).map((frame) => frame.delivery.seq), [1]);
    });

    test(`${version}: a message to oneself is delivered`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      alice.client.sendMessage(alice.name, 'note to self');
      await alice.untilMessages(1);
      assert.equal(alice.messages[0].from, alice.name);
    });

    test(`${version}: a body of 900 KB arrives whole, one beyond 1 MiB is refused by the client`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bob'));
      const body = 'ü0123456789'.repeat(75_000);
      assert.equal(alice.client.sendMessage(bob.name, 'x'.repeat(1024 * 1024)), false);
      assert.equal(alice.client.sendMessage(bob.name, body), true);
      await bob.untilMessages(1);
      assert.ok(bob.messages[0].payload.body === body);
      assert.equal(alice.client.state, 'READY');
    });

    test(`${version}: an unknown recipient is an error with the nearest name`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const bob = await join(t, daemon, version, unique('Bartholomew'));
      const wrong = bob.name.replace('Barth', 'Bart');
      alice.client.sendMessage(wrong, 'anybody?');
      const error = await alice.untilError(/./);
      assert.equal(error.fatal, false);
      assert.match(error.message, new RegExp(wrong));
      assert.match(error.message, new RegExp(bob.name));
      alice.client.sendMessage(bob.name, 'still connected');
      await bob.untilMessages(1);
    });
  }

  for (const version of versions) {
    test(`${version}: broadcast() reaches agents and users, not the sender`, async (t) => {
      const own = await Daemon.start();
      t.after(() => own.stop());
      const alice = await join(t, own, version, 'Alice');
      const others = [await join(t, own, kOld, 'Bob'), await join(t, own, kNew, 'Carol'),
        await join(t, own, kNew, 'Dora', { entityType: 'user' })];
      assert.equal(alice.client.broadcast('hello all', 'message', { n: 1 }), true);
      for (const other of others) {
        await other.untilMessages(1);
        assert.deepEqual(other.messages[0].payload, { kind: 'message', body: 'hello all', data: { n: 1 } });
        assert.equal(other.messages[0].originalTo, '*');
        assert.equal(other.frame('DELIVER').to, other.name);
      }
      const ids = others.map((other) => other.messages[0].id);
      assert.equal(new Set(ids).size, ids.length, 'a fresh id for each recipient');
      await alice.barrier();
      assert.equal(alice.messages.length, 0);
    });

    test(`${version}: a daemon with one agent accepts its broadcast without an error`, async (t) => {
      const own = await Daemon.start();
      t.after(() => own.stop());
      const alice = await join(t, own, version, 'Alice');
      alice.client.broadcast('anybody?');
      await alice.barrier();
      assert.deepEqual(alice.errors, []);
    });

    test(`${version}: a message to an offline agent is queued, and its sender is notified`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const name = unique('Bob');
      const before = await join(t, daemon, version, name);
      await before.barrier();
      before.close();
      const started = Date.now();
      for (const body of ['one', 'two', 'three']) alice.client.sendMessage(name, body, 'message', { body });
      await alice.barrier();
      assert.deepEqual(alice.errors, []);
      const after = await join(t, daemon, version, name);
      await after.untilMessages(3);
      assert.deepEqual(after.bodies, ['one', 'two', 'three']);
      for (const { payload } of after.messages) {
        assert.equal(payload.data._offlineQueued, true);
        assert.ok(payload.data._queuedAt >= started - 1000 && payload.data._queuedAt <= Date.now() + 1000);
        assert.equal(payload.data.body, payload.body);
      }
      alice.client.sendMessage(name, 'four');
      await after.untilMessages(4);
      assert.equal(after.messages[3].payload.data?._offlineQueued, undefined);
      assert.deepEqual(after.framesOf('DELIVER').map((frame) => frame.delivery.seq), [1, 2, 3, 4]);
    });

    test(`${version}: sendLog() is accepted without a response`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      assert.equal(alice.client.sendLog('compiling…\n'), true);
      await alice.barrier();
      assert.deepEqual(alice.errors, []);
      assert.equal(alice.client.state, 'READY');
    });
  }
});
