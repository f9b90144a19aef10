// A daemon in a temporary home and project.
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
  // `environment` is added to a minimal one; an undefined value removes a variable.
  static async start({ environment = {} } = {}) {
    const daemon = new Daemon();
    daemon.directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'relay-c-')));
    daemon.home = path.join(daemon.directory, 'home');
    daemon.project = path.join(daemon.directory, 'project');
    daemon.socket = path.join(daemon.directory, 'r.sock');
    mkdirSync(path.join(daemon.project, '.git'), { recursive: true });
    daemon.environment = {
      PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: daemon.directory, AGENT_RELAY_HOME: daemon.home, ...environment,
    };
    for (const [name, value] of Object.entries(daemon.environment))
      if (value === undefined) delete daemon.environment[name];
    await daemon.launch();
    return daemon;
  }

  async launch() {
    this.output = '';
    this.child = spawn(process.env.RELAY_BIN, ['up', '--foreground', '--no-http', '--socket', this.socket],
      { cwd: this.project, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout.on('data', (bytes) => { this.output += bytes; });
    this.child.stderr.on('data', (bytes) => { this.output += bytes; });
    this.exited = new Promise((resolve) => this.child.once('exit', (code, signal) => {
      this.exit = { code, signal };
      resolve();
    }));
    this.exit = undefined;
    const deadline = Date.now() + kReadyMs;
    while (!(await canConnect(this.socket))) {
      if (this.exit) throw new Error(`the daemon exited (${JSON.stringify(this.exit)}); its output: ${this.output}`);
      if (Date.now() > deadline) throw new Error(`the daemon did not listen within ${kReadyMs} ms; its output: ${this.output}`);
      await sleep(10);
    }
  }

  async signal(name) {
    if (!this.exit) this.child.kill(name);
    await this.exited;
  }

  async crash() { await this.signal('SIGKILL'); }

  async crashAndRestart() {
    await this.crash();
    await this.launch();
  }

  async stop() {
    await this.signal('SIGTERM');
    rmSync(this.directory, { recursive: true, force: true });
  }
}
