/** Cells that nothing reaches, each with the reason. The test fails for one that is missing here, and for one that is reached after all. */
export const unreached: Readonly<Record<string, string>> = {
  "failed settled": "an effect answers once, and a settling whose answer failed the session has answered",
  "failed settle_failed": "an effect answers once, and a settling whose answer failed the session has answered",
};
