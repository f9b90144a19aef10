import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { join, kNew, kOld, TestClient, unique, versions } from './harness/clients.mjs';
import { Daemon } from './harness/daemon.mjs';
import { sharedDaemon } from './harness/shared.mjs';
import { Wire } from './harness/wire.mjs';

const kWatchMs = 10_000;
const kMaxWelcomes = 6;      // both clients together; upstream reaches about eight a second
const kMaxConnections = 40;  // exponential backoff makes far fewer

// Tests that need real time; they run concurrently.
describe('timing', { concurrency: true }, () => {
  const daemon = sharedDaemon();

  const count = (clients, state) =>
    clients.reduce((sum, client) => sum + client.states.filter((one) => one === state).length, 0);

  for (const version of versions) {
    test(`${version}: two clients with one name do not fight for ten seconds`, async (t) => {
      const name = unique('Twin');
      const first = await join(t, daemon, version, name);
      const second = new TestClient(version, daemon, name);
      t.after(() => second.close());
      second.client.connect().catch(() => {});
      await sleep(kWatchMs);
      const twins = [first, second];
      t.diagnostic(`${count(twins, 'READY')} welcomes, ${count(twins, 'CONNECTING')} connections in ${kWatchMs} ms`);
      assert.ok(count(twins, 'READY') <= kMaxWelcomes, `${count(twins, 'READY')} welcomes`);
      assert.ok(count(twins, 'CONNECTING') <= kMaxConnections, `${count(twins, 'CONNECTING')} connections`);
      const owners = twins.filter((twin) => twin.client.state === 'READY');
      assert.equal(owners.length, 1, `one owner, not ${twins.map((twin) => twin.client.state)}`);
      const loser = twins.find((twin) => twin !== owners[0]);
      const error = loser.errors.find((one) => one.code === 'DUPLICATE_CONNECTION');
      assert.equal(error?.fatal, true, `the errors of the loser: ${JSON.stringify(loser.errors)}`);
      const sender = await join(t, daemon, kNew, unique('Sender'));
      sender.client.sendMessage(name, 'to the owner');
      await owners[0].untilMessages(1);
      assert.equal(first.messages.length + second.messages.length, 1);
      if (version === kNew) {
        assert.equal(owners[0], second, 'the newest connection wins if the name is not claimed');
        assert.equal(count(twins, 'READY'), 2);
        assert.equal(first.client.state, 'DISCONNECTED');
      }
    });

    test(`${version}: an idle client answers PING and stays`, async (t) => {
      const own = await Daemon.start({ environment: { AGENT_RELAY_HEARTBEAT_MS: '500' } });
      t.after(() => own.stop());
      const alice = await join(t, own, version, 'Alice');
      assert.equal(alice.frame('WELCOME').payload.server.heartbeat_ms, 500);
      await sleep(4_000);
      assert.ok(alice.framesOf('PING').length >= 3, `${alice.framesOf('PING').length} PINGs`);
      assert.equal(count([alice], 'READY'), 1);
    });
  }

  test('a client that stops answering PING is disconnected', async (t) => {
    const own = await Daemon.start({ environment: { AGENT_RELAY_HEARTBEAT_MS: '500' } });
    t.after(() => own.stop());
    const wire = await Wire.connect(t, own.socket);
    await wire.hello('Mute');
    wire.sendType = () => {};
    await wire.untilClosed(6_000);
  });

  test('a client that is silent after a truncated frame is disconnected after the handshake timeout', async (t) => {
    const wire = await Wire.connect(t, daemon.socket);
    wire.write(Buffer.from([0, 0, 0, 80, 0x7b, 0x22]));
    await wire.untilClosed(9_000);
    assert.equal(wire.framesOf('ERROR').length, 1);
  });

  test('a message that is not acknowledged is resent with the same id and number', async (t) => {
    const alice = await join(t, daemon, kOld, unique('Alice'));
    const wire = await Wire.connect(t, daemon.socket);
    const name = unique('Forgetful');
    await wire.hello(name);
    alice.client.sendMessage(name, 'again');
    await wire.untilFrame(() => wire.framesOf('DELIVER').length === 2, 'a second DELIVER', 9_000);
    const [first, second] = wire.framesOf('DELIVER');
    assert.deepEqual([second.id, second.delivery], [first.id, first.delivery]);
    wire.acknowledge(first);
    await sleep(7_000);
    assert.equal(wire.framesOf('DELIVER').length, 2, 'after the ACK no more');
  });
});
