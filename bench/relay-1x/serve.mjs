// node serve.mjs NODE_MODULES SOCKET: the published daemon on a given socket, with messages in memory: its SQLite binding
// needs an install script, which is not run.
import path from 'node:path';

const [modules, socketPath] = process.argv.slice(2);
const { Daemon } = await import(path.join(modules, 'agent-relay/dist/daemon/server.js'));
await new Daemon({ socketPath, cloudSync: false, storageConfig: { type: 'memory' } }).start();
