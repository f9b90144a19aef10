import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join, kNew, kOld, TestClient, unique, versions } from './harness/clients.mjs';
import { sharedDaemon } from './harness/shared.mjs';

describe('handshake', () => {
  const daemon = sharedDaemon();

  for (const version of versions) {
    test(`${version}: connect() ends READY with a session`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      assert.deepEqual(alice.states, ['CONNECTING', 'HANDSHAKING', 'READY']);
      assert.equal(typeof alice.client.currentSessionId, 'string');
      const welcome = alice.frame('WELCOME').payload;
      assert.equal(typeof welcome.resume_token, 'string');
      assert.deepEqual(welcome.server, { max_frame_bytes: 1048576, heartbeat_ms: 5000 });
      assert.deepEqual(alice.errors, []);
    });

    test(`${version}: all members of HELLO are accepted`, async (t) => {
      const name = unique('Full');
      await join(t, daemon, version, name, { cli: 'claude', program: 'Claude Code', model: 'opus', task: 'review',
        workingDirectory: '/tmp', team: 'core', displayName: 'Full Name', avatarUrl: 'data:,x', entityType: 'agent' });
      const requester = await join(t, daemon, kNew, unique('Requester'));
      const agents = await requester.client.listAgents();
      assert.equal(agents.find((agent) => agent.name === name)?.cli, 'claude');
    });

    test(`${version}: disconnect() and destroy() close the connection`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      const watcher = await join(t, daemon, kNew, unique('Watcher'));
      alice.client.disconnect();
      assert.equal(alice.client.state, 'DISCONNECTED');
      alice.client.destroy();
      assert.equal(alice.client.sendMessage(watcher.name, 'too late'), false);
      for (let tries = 0; ; ++tries) {
        const connected = await watcher.client.listConnectedAgents();
        if (!connected.some((agent) => agent.name === alice.name)) break;
        assert.ok(tries < 200, 'EOF without BYE is a normal close');
      }
    });

    test(`${version}: connecting twice is harmless`, async (t) => {
      const alice = await join(t, daemon, version, unique('Alice'));
      await alice.client.connect();
      await alice.barrier();
      assert.equal(alice.framesOf('WELCOME').length, 1);
    });
  }

  test('2.1.14: a reserved name is refused permanently, except for a system component', async (t) => {
    const outsider = new TestClient(kNew, daemon, 'Dashboard');
    t.after(() => outsider.close());
    const connecting = outsider.client.connect();
    connecting.catch(() => {});
    const error = await outsider.untilError(/BAD_REQUEST/);
    assert.equal(error.fatal, true);
    await outsider.until(() => outsider.client.state === 'DISCONNECTED', 'no more attempts');
    const system = await join(t, daemon, kNew, 'Dashboard', { _isSystemComponent: true });
    assert.equal(system.client.state, 'READY');
  });

  test('an unprintable name is refused with a short reason', async (t) => {
    for (const name of ['', 'two words', 'bell\u0007', 'x'.repeat(10_000)]) {
      const client = new TestClient(kOld, daemon, name, { reconnect: false });
      t.after(() => client.close());
      client.client.connect().catch(() => {});
      const error = await client.untilError(/BAD_REQUEST/);
      assert.equal(error.fatal, true);
      assert.ok(error.message.length > 10 && error.message.length < 300, error.message);
    }
  });
});
