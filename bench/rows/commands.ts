import type { Bench, Benchmark } from "../support/bench.ts";
import { Home } from "../support/home.ts";
import { alternating, timed } from "../support/measure.ts";
import { processCount } from "../support/resources.ts";

const EMPTY_WALL = "empty Node, wall";
const EMPTY_CPU = "empty Node, CPU";
const DAEMON_START = "daemon start until it answers";
const NEW_COMMAND = "session new until ready, by the command";
const NEW_SOCKET = "session new until ready, over the socket";
const CPU_HELP = "CPU of agent --help";
const CPU_LIST = "CPU of agent session list";
const CPU_PS = "CPU of agent ps";

const wallOfEmpty: Benchmark = {
  names: [EMPTY_WALL, EMPTY_CPU],
  run: async (bench) => {
    await using home = new Home();
    const { value, floor } = await alternating({
      rounds: bench.rounds,
      floor: () => home.emptyNodeCpu(),
      subject: () => home.emptyNode(),
    });
    bench.report({ name: EMPTY_WALL, unit: "ms", value });
    bench.report({ name: EMPTY_CPU, unit: "ms", value: floor });
  },
};

const daemonStart: Benchmark = {
  names: [DAEMON_START],
  run: async (bench) => {
    await using home = new Home();
    const measured = await alternating({
      rounds: bench.rounds,
      floor: () => home.emptyNode(),
      subject: async () => {
        const wallMs = await home.agent("daemon", "start");
        await home.agent("daemon", "stop");
        return wallMs;
      },
    });
    bench.report({ name: DAEMON_START, unit: "ms", ...measured, target: { of: "ratio", atMost: 5 } });
  },
};

const sessionNew: Benchmark = {
  names: [NEW_COMMAND, NEW_SOCKET],
  run: async (bench) => {
    await using home = new Home();
    await home.agent("daemon", "start");
    if (bench.wants(NEW_COMMAND)) {
      const measured = await alternating({
        rounds: bench.rounds,
        floor: () => home.emptyNode(),
        subject: () => home.agent("session", "new"),
      });
      bench.report({ name: NEW_COMMAND, unit: "ms", ...measured, target: { of: "ratio", atMost: 5 } });
    }
    const client = await home.client();
    await client.call("daemon/status", {});
    const measured = await alternating({
      rounds: bench.rounds,
      floor: () => home.emptyNode(),
      subject: () => timed(() => home.newSession(client)),
    });
    bench.report({ name: NEW_SOCKET, unit: "ms", ...measured, target: { of: "ratio", atMost: 2.5 } });
  },
};

const commandCpu: Benchmark = {
  names: [CPU_HELP, CPU_LIST, CPU_PS],
  run: async (bench) => {
    await using home = new Home();
    await home.agent("daemon", "start");
    const client = await home.client();
    await home.newSessions(client, 3);
    await cpuRow(bench, home, { name: CPU_HELP, args: ["--help"] });
    await cpuRow(bench, home, { name: CPU_LIST, args: ["session", "list"] });
    if (!bench.wants(CPU_PS)) return;
    const { value, floor: empty } = await cpuMedians(bench, home, ["ps"]);
    const processes = processCount();
    bench.report({
      name: CPU_PS,
      unit: "ms",
      value,
      floor: 2 * empty + PS_MS_PER_PROCESS * processes,
      target: { of: "ratio", atMost: 1 },
      note: `floor: 2 × empty Node and ${PS_MS_PER_PROCESS} ms for each of ${processes} processes`,
    });
  },
};

const PS_MS_PER_PROCESS = 0.1;

const cpuMedians = (bench: Bench, home: Home, args: readonly string[]): Promise<{ value: number; floor: number }> =>
  alternating({
    rounds: bench.rounds,
    floor: () => home.emptyNodeCpu(),
    subject: () => home.agentCpu(...args),
  });

async function cpuRow(bench: Bench, home: Home, row: { name: string; args: readonly string[] }): Promise<void> {
  if (!bench.wants(row.name)) return;
  const measured = await cpuMedians(bench, home, row.args);
  bench.report({ name: row.name, unit: "ms", ...measured, target: { of: "ratio", atMost: 2 } });
}

export const commandBenchmarks: readonly Benchmark[] = [wallOfEmpty, daemonStart, sessionNew, commandCpu];
