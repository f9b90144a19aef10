// A daemon of our own in a temporary home and project, and the ways it may die.
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const kReadyMs = 15_000;

export function canConnect(socketPath) {
  return new Promise((resolve) => {
    const socket = net.createConnection(socketPath);
    socket.once('connect', () => { socket.destroy(); resolve(true); });
    socket.once('error', () => resolve(false));
  });
}

export class Daemon {
  // `environment` is added to an otherwise bare one; an undefined value takes a variable away.
  static async start({ environment = {} } = {}) {
    const daemon = new Daemon();
    daemon.place = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'relay-c-')));
    daemon.home = path.join(daemon.place, 'home');
    daemon.project = path.join(daemon.place, 'project');
    daemon.socket = path.join(daemon.place, 'r.sock');
    mkdirSync(path.join(daemon.project, '.git'), { recursive: true });
    daemon.environment = {
      PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: daemon.place, AGENT_RELAY_HOME: daemon.home, ...environment,
    };
    for (const [name, value] of Object.entries(daemon.environment))
      if (value === undefined) delete daemon.environment[name];
    await daemon.launch();
    return daemon;
  }

  async launch() {
    this.said = '';
    this.child = spawn(process.env.RELAY_BIN, ['up', '--foreground', '--no-http', '--socket', this.socket],
      { cwd: this.project, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout.on('data', (bytes) => { this.said += bytes; });
    this.child.stderr.on('data', (bytes) => { this.said += bytes; });
    this.ended = new Promise((resolve) => this.child.once('exit', (code, signal) => {
      this.exit = { code, signal };
      resolve();
    }));
    this.exit = undefined;
    const giveUp = Date.now() + kReadyMs;
    while (!(await canConnect(this.socket))) {
      if (this.exit) throw new Error(`the daemon ended (${JSON.stringify(this.exit)}) and said: ${this.said}`);
      if (Date.now() > giveUp) throw new Error(`the daemon did not listen within ${kReadyMs} ms and said: ${this.said}`);
      await sleep(10);
    }
  }

  async signal(name) {
    if (!this.exit) this.child.kill(name);
    await this.ended;
  }

  async crash() { await this.signal('SIGKILL'); }

  async crashAndRestart() {
    await this.crash();
    await this.launch();
  }

  async stop() {
    await this.signal('SIGTERM');
    rmSync(this.place, { recursive: true, force: true });
  }
}
