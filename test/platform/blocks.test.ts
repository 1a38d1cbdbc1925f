import { expect, test } from 'vitest'
import { blockBytes, holdBlock, releaseBlock, takeBlock } from '../../src/platform/blocks.ts'

test('a block of memory is reused only after its last holder has released it', () => {
  const block = takeBlock()
  const part = block.subarray(100, 200)
  holdBlock(part)
  releaseBlock(block)
  const other = takeBlock()
  expect(other.buffer).not.toBe(block.buffer)
  releaseBlock(part)
  const again = takeBlock()
  expect(again.buffer).toBe(block.buffer)
  expect(again.length).toBe(blockBytes)
  for (const each of [other, again]) releaseBlock(each)
})

test('a block of memory that is released too often is not given to two holders', () => {
  const block = takeBlock()
  releaseBlock(block)
  releaseBlock(block)
  holdBlock(block)
  releaseBlock(block)
  const [one, two] = [takeBlock(), takeBlock()]
  expect(one.buffer).not.toBe(two.buffer)
  for (const each of [one, two]) releaseBlock(each)
})

test('a buffer that does not belong to the pool of blocks is never given out', () => {
  const bytes = Buffer.alloc(blockBytes)
  holdBlock(bytes)
  releaseBlock(bytes)
  releaseBlock(bytes)
  const block = takeBlock()
  expect(block.buffer).not.toBe(bytes.buffer)
  releaseBlock(block)
})
