/**
 * The signal that ended a command; null: the command exited by itself. Codes 129 to 192 count as signals, because a shell
 * and an engine report `exit 143` and a death by TERM alike.
 */
export const signalFromExitCode = (exitCode: number): number | null =>
  exitCode > 128 && exitCode <= 192 ? exitCode - 128 : null
