import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { join, kNew, kOld } from './harness/clients.mjs';
import { Daemon } from './harness/daemon.mjs';
import { until } from './harness/until.mjs';

const seeker = fileURLToPath(new URL('./harness/default_socket.mjs', import.meta.url));

// Runs a client without a configured path in its own process, because it reads the environment and the directory.
async function seek(version, { cwd, env }) {
  const { stdout } = await promisify(execFile)(process.execPath, [seeker, version],
    { cwd, env: { PATH: process.env.PATH, RELAY_CLIENTS: process.env.RELAY_CLIENTS, ...env }, timeout: 20_000 });
  return JSON.parse(stdout);
}

const projectId = (root) => createHash('sha256').update(root).digest('hex').slice(0, 12);

describe('discovery', () => {
  test('2.1.14 finds the daemon from the project root, from a folder in it, and by RELAY_SOCKET', async (t) => {
    const daemon = await Daemon.start();
    t.after(() => daemon.stop());
    const local = path.join(daemon.project, '.agent-relay', 'relay.sock');
    const inside = path.join(daemon.project, 'src', 'deep');
    mkdirSync(inside, { recursive: true });
    const env = { HOME: daemon.directory };
    assert.deepEqual(await seek(kNew, { cwd: daemon.project, env }), { socket: local, state: 'READY' });
    assert.deepEqual(await seek(kNew, { cwd: inside, env }), { socket: local, state: 'READY' });
    assert.deepEqual(await seek(kNew, { cwd: '/', env: { ...env, RELAY_SOCKET: daemon.socket } }),
      { socket: daemon.socket, state: 'READY' });
  });

  test('1.6.0 finds the daemon in ~/.agent-relay/<projectId>', async (t) => {
    const daemon = await Daemon.start({ environment: { AGENT_RELAY_HOME: undefined } });
    t.after(() => daemon.stop());
    const socket = path.join(daemon.directory, '.agent-relay', projectId(daemon.project), 'relay.sock');
    assert.deepEqual(await seek(kOld, { cwd: daemon.project, env: { HOME: daemon.directory } }), { socket, state: 'READY' });
  });

  for (const [variable, folder] of [['AGENT_RELAY_DATA_DIR', ''], ['XDG_DATA_HOME', 'agent-relay']]) {
    test(`1.6.0 finds the daemon under ${variable}`, async (t) => {
      const directory = mkdtempSync(path.join(os.tmpdir(), 'relay-d-'));
      t.after(() => rmSync(directory, { recursive: true, force: true }));
      const daemon = await Daemon.start({ environment: { [variable]: directory } });
      t.after(() => daemon.stop());
      const socket = path.join(directory, folder, projectId(daemon.project), 'relay.sock');
      assert.deepEqual(await seek(kOld, { cwd: daemon.project, env: { HOME: daemon.directory, [variable]: directory } }),
        { socket, state: 'READY' });
    });
  }

  test('the workspace has the files that tools read, for the owner only', async (t) => {
    const daemon = await Daemon.start();
    t.after(() => daemon.stop());
    const directory = path.join(daemon.home, 'projects', projectId(daemon.project));
    const mode = (file) => (statSync(file).mode & 0o777).toString(8);
    const socket = realpathSync(path.join(daemon.project, '.agent-relay', 'relay.sock'));
    assert.equal(socket, path.join(directory, 'relay.sock'));
    assert.equal(mode(socket), '600');
    assert.equal(mode(daemon.socket), '600');
    assert.ok(lstatSync(daemon.socket).isSocket());
    assert.equal(mode(directory), '700');
    assert.equal(readFileSync(path.join(directory, 'relay.sock.pid'), 'utf8'), `${daemon.child.pid}\n`);
    await join(t, daemon, kOld, 'Alice', { cli: 'claude', task: 'review' });
    const agents = () => {
      try {
        return JSON.parse(readFileSync(path.join(directory, 'agents.json'), 'utf8')).agents;
      } catch {
        return [];
      }
    };
    const alice = await until(() => agents().find((agent) => agent.name === 'Alice'), 'Alice in agents.json');
    assert.deepEqual([alice.cli, alice.task, alice.messagesSent, alice.messagesReceived], ['claude', 'review', 0, 0]);
    for (const field of ['id', 'firstSeen', 'lastSeen']) assert.ok(alice[field], field);
  });
});
