// A published client in its own process that is told no socket path: prints where it looked and what became of it.
import path from 'node:path';

const modules = process.env.RELAY_CLIENTS;
console.log = console.warn = console.error = () => {};
let client;
if (process.argv[2] === '1.6.0') {
  const { RelayClient } = await import(path.join(modules, 'agent-relay/dist/wrapper/client.js'));
  const { getProjectPaths } = await import(path.join(modules, 'agent-relay/dist/utils/project-namespace.js'));
  client = new RelayClient({ agentName: 'Seeker', reconnect: false, socketPath: getProjectPaths().socketPath });
} else {
  const { RelayClient } = await import(path.join(modules, '@agent-relay/sdk/dist/client.js'));
  client = new RelayClient({ agentName: 'Seeker', reconnect: false });
}
client.onError = () => {};
await client.connect().catch(() => {});
const { state } = client;
client.destroy();
process.stdout.write(JSON.stringify({ socket: client.config.socketPath, state }), () => process.exit(0));
