/**
 * The file in which the first process of a container notes that the command began, and its code in the end (init.sh). Another
 * program may start the container again, and the command must not run twice. The run is in its name, because an image may
 * be made of the container of another run. Root makes it in the container; for another account it is put there before the
 * first start, which costs the engine about half of what a start costs.
 */
export const begunFileOf = (runId: string) => `/.berth-begun-${runId}`

/** Empty, and every account can write it. */
export const begunFile = (runId: string) => ({ path: begunFileOf(runId), mode: 0o666 })
