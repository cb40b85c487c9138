import { closeInherited } from "@holdfast/shared-process";
import { runWorker } from "./main.ts";

closeInherited();
process.exit(await runWorker());
