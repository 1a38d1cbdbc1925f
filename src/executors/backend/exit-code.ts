/** Returns the signal that an exit code reports, or null. A shell reports `exit 143` and an end by TERM alike. */
export const signalFromExitCode = (exitCode: number): number | null =>
  exitCode > 128 && exitCode <= 192 ? exitCode - 128 : null
