/** The released version; the bundler replaces the variable by its text. */
export const VERSION: string = process.env["HOLDFAST_VERSION"] ?? "0.0.0-source";
