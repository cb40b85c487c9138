import { agentPath } from "../support/command.ts";
import { proveUntouched } from "./proof.ts";

proveUntouched(agentPath);
