/**
 * A pool of memory blocks for output. Without it, V8 marks the whole heap after at most 64 MiB of new buffers, which
 * costs as much as all other work. A block is used again when all of its holders have released it. A holder that
 * forgets to release leaves the block to the garbage collector; a holder that reads after its release may read other
 * output. Buffers that are not of the pool are ignored.
 */

export const blockBytes = 262_144
const restingMax = 16

const resting: Buffer<ArrayBuffer>[] = []
const holders = new WeakMap<ArrayBufferLike, number>()

export function takeBlock(): Buffer<ArrayBuffer> {
  const block = resting.pop() ?? Buffer.allocUnsafeSlow(blockBytes)
  holders.set(block.buffer, 1)
  return block
}

export function holdBlock({ buffer }: Uint8Array): void {
  const count = holders.get(buffer)
  if (count !== undefined) holders.set(buffer, count + 1)
}

export function releaseBlock({ buffer }: Uint8Array<ArrayBufferLike>): void {
  const count = holders.get(buffer)
  if (count === undefined) return
  if (count > 1) return void holders.set(buffer, count - 1)
  holders.delete(buffer)
  if (resting.length < restingMax) resting.push(Buffer.from(buffer as ArrayBuffer))
}
