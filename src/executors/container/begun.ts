/**
 * The file in which the first process of a container notes that the command began, and its code in the end (init.sh). Another
 * program may start the container again, and the command must not run twice. The run is in its name, because an image may
 * be made of the container of another run. Root makes it in the container; for another account it is put there before the
 * first start, which costs the engine about half of what a start costs.
 */
export const begunFileOf = (runId: string) => `/.berth-begun-${runId}`

/** An archive with that file, which is empty and can be written by every account, for the root of a container. */
export function begunArchiveOf(runId: string): Uint8Array {
  const header = Buffer.alloc(512)
  const fields: [number, string][] = [
    [0, begunFileOf(runId).slice(1)],
    [100, '0000666'],
    [108, '0000000'],
    [116, '0000000'],
    [124, '00000000000'],
    [136, '00000000000'],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\u000000'],
  ]
  for (const [at, text] of fields) header.write(text, at)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148)
  return Buffer.concat([header, Buffer.alloc(1024)])
}
