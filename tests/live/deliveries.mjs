/// tests/live/deliveries CLI… [--count N] [--modes a,b] [--situations a,b] [--jobs N] [--json FILE]
///
/// For each agent, mode and situation: a new conversation, messages sent while the situation holds, and a comparison with
/// the requests of the scripted model. Exit code 1 if a bar is missed.
import { writeFileSync } from 'node:fs';
import { kAgents, kModes, kSituations } from './harness/agents.mjs';
import { parseCommandLine } from './harness/command_line.mjs';
import { runCell } from './harness/cell.mjs';
import { failuresOf, progressLine, table } from './harness/report.mjs';
import { readEnvironment } from './harness/environment.mjs';

function usage(message) {
  console.error(`${message}\nusage: tests/live/deliveries CLI… [--count N] [--modes a,b] [--situations a,b] [--jobs N] ` +
    `[--json FILE]\nCLI: ${Object.keys(kAgents).join(', ')}`);
  process.exit(2);
}

function select(list, all, kind) {
  const names = list === undefined ? all : list.split(',');
  for (const name of names) if (!all.includes(name)) usage(`unknown ${kind} "${name}"; known are ${all.join(', ')}`);
  return names;
}

function options() {
  const { clis, values } = parseCommandLine({
    count: { type: 'string', default: '50' }, jobs: { type: 'string', default: '2' }, json: { type: 'string' },
    modes: { type: 'string' }, situations: { type: 'string' } }, usage);
  return { clis: clis.length ? clis : Object.keys(kAgents), environment: readEnvironment(usage),
    count: Number(values.count), jobs: Number(values.jobs), json: values.json,
    modes: select(values.modes, kModes, 'mode'), situations: select(values.situations, kSituations, 'situation') };
}

const { clis, environment, count, jobs, json, modes, situations } = options();
const cells = clis.flatMap((cli) => modes.flatMap((mode) => situations.map((situation) => ({ cli, mode, situation }))));
const results = new Array(cells.length);
const startedAt = Date.now();
let next = 0;
await Promise.all(Array.from({ length: jobs }, async (_, lane) => {
  while (next < cells.length) {
    const at = next++;
    results[at] = await runCell(cells[at], count, { ...environment, port: environment.port + lane });
    console.error(`${String(at + 1).padStart(3)}/${cells.length} ${progressLine(results[at])}`);
  }
}));
console.log(table(results));
console.error(`${cells.length} cells in ${Math.round((Date.now() - startedAt) / 1000)} s`);
if (json) writeFileSync(json, `${JSON.stringify({ at: new Date().toISOString(), count, results }, null, 1)}\n`);
process.exit(results.some((result) => failuresOf(result).length) ? 1 : 0);
