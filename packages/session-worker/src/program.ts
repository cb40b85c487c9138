import { closeInherited } from "@holdfast/shared-process";
import { runWorker } from "./main.ts";

closeInherited();
void runWorker().then((code) => process.exit(code));
