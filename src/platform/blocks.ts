/**
 * A pool of memory blocks for output. V8 marks the whole heap after at most 64 MiB of new buffers, however soon they are
 * dropped, and for a stream of output that costs as much as everything else. A block is used again when all of its holders
 * have released it. Holding or releasing bytes outside of a block does nothing. A holder that forgets to release leaves the
 * block to the garbage collector; a holder that reads after its release would read other output.
 */

export const blockBytes = 262_144
/** Blocks that wait to be used again, for all streams of the process. */
const restingMax = 16

const resting: Buffer<ArrayBuffer>[] = []
const holders = new WeakMap<ArrayBufferLike, number>()

/** A block with one holder: the caller. Its bytes are not cleared. */
export function takeBlock(): Buffer<ArrayBuffer> {
  const block = resting.pop() ?? Buffer.allocUnsafeSlow(blockBytes)
  holders.set(block.buffer, 1)
  return block
}

/** Adds a holder to the block of these bytes. */
export function holdBlock({ buffer }: Uint8Array): void {
  const count = holders.get(buffer)
  if (count !== undefined) holders.set(buffer, count + 1)
}

/** Removes a holder. */
export function releaseBlock({ buffer }: Uint8Array<ArrayBufferLike>): void {
  const count = holders.get(buffer)
  if (count === undefined) return
  if (count > 1) return void holders.set(buffer, count - 1)
  holders.delete(buffer)
  if (resting.length < restingMax) resting.push(Buffer.from(buffer as ArrayBuffer))
}
