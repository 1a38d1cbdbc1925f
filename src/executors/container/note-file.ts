/**
 * The file in which init.sh notes that the command ended, and whether TERM came before that. Root makes it in the container;
 * for another account it is put there before the start, which adds about half of the time that a start takes.
 */
export const notePath = '/.berth-note'

/** Empty, and every account can write it. */
export const noteFile = { path: notePath, mode: 0o666 }
