// node serve.mjs NODE_MODULES SOCKET: the published daemon at a socket of ours, its messages in memory: its SQLite
// binding needs an install script, and those we do not run.
import path from 'node:path';

const [modules, socketPath] = process.argv.slice(2);
const { Daemon } = await import(path.join(modules, 'agent-relay/dist/daemon/server.js'));
await new Daemon({ socketPath, cloudSync: false, storageConfig: { type: 'memory' } }).start();
