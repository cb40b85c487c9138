import { afterAll } from "vitest";
import { commandWithoutLibrary } from "../support/without-library.ts";
import { proveUntouched } from "./proof.ts";

proveUntouched(commandWithoutLibrary(afterAll));
