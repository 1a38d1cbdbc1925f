/** null: the command exited by itself. A shell reports `exit 143` and a death by TERM alike. */
export const signalFromExitCode = (exitCode: number): number | null =>
  exitCode > 128 && exitCode <= 192 ? exitCode - 128 : null
