/** A line that can be typed as it stands, whatever the directory is called. */
export const trustCommand = (verb: "add" | "remove" | "check", directory: string): string =>
  `agent trust ${verb} ${/^[\w./@%+,:-]+$/.test(directory) ? directory : `'${directory.replaceAll("'", "'\\''")}'`}`;
