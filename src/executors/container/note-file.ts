/** File in which init.sh notes that the command ended, whether TERM came before, and the exit code. */
export const notePath = '/.berth-note'

/** Empty, and every account can write it. */
export const noteFile = { path: notePath, mode: 0o666 }
