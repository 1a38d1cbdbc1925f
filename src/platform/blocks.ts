/**
 * Blocks of memory that are used again. V8 marks the whole heap after at most 64 MiB of new buffers, however soon they are
 * dropped, and for a stream of output that costs as much as everything else. A block is used again when each of its holders
 * has let it go. Bytes that are in no block may be held and let go as well; nothing happens. A holder that forgets to let go
 * leaves the block to the garbage collector; one that reads on after it has let go would read other output.
 */

export const blockBytes = 262_144
/** Blocks that wait to be used again, for all streams of the process. */
const restingMax = 16

const resting: Buffer<ArrayBuffer>[] = []
const holders = new WeakMap<ArrayBufferLike, number>()

/** A block with one holder: the caller. Its bytes are of anything. */
export function takeBlock(): Buffer<ArrayBuffer> {
  const block = resting.pop() ?? Buffer.allocUnsafeSlow(blockBytes)
  holders.set(block.buffer, 1)
  return block
}

/** One more holder of the block that these bytes are in. */
export function holdBlock({ buffer }: Uint8Array): void {
  const count = holders.get(buffer)
  if (count !== undefined) holders.set(buffer, count + 1)
}

/** One holder less. */
export function letGoBlock({ buffer }: Uint8Array<ArrayBufferLike>): void {
  const count = holders.get(buffer)
  if (count === undefined) return
  if (count > 1) return void holders.set(buffer, count - 1)
  holders.delete(buffer)
  if (resting.length < restingMax) resting.push(Buffer.from(buffer as ArrayBuffer))
}
