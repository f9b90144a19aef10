// A published client without a configured socket path, in its own process: prints the path it chose and its state.
import path from 'node:path';

const modules = process.env.RELAY_CLIENTS;
console.log = console.warn = console.error = () => {};
let client;
if (process.argv[2] === '1.6.0') {
  const { RelayClient } = await import(path.join(modules, 'agent-relay/dist/wrapper/client.js'));
  const { getProjectPaths } = await import(path.join(modules, 'agent-relay/dist/utils/project-namespace.js'));
  client = new RelayClient({ agentName: 'Client', reconnect: false, socketPath: getProjectPaths().socketPath });
} else {
  const { RelayClient } = await import(path.join(modules, '@agent-relay/sdk/dist/client.js'));
  client = new RelayClient({ agentName: 'Client', reconnect: false });
}
client.onError = () => {};
await client.connect().catch(() => {});
const { state } = client;
client.destroy();
process.stdout.write(JSON.stringify({ socket: client.config.socketPath, state }), () => process.exit(0));
