import { runWorker } from "./main.ts";

process.exit(await runWorker());
