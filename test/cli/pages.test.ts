import { describe, expect, it } from 'vitest'
import { readEveryNode, readFirstNodes } from '../../src/cli/reading/pages.ts'

/** Reads pages of a list of the numbers 0 … `total` - 1, and records the size of each page. */
function listOf(total: number) {
  const sizes: number[] = []
  const read = async ({ first, after }: { first: number; after: string | null }) => {
    sizes.push(first)
    const from = after === null ? 0 : Number(after)
    const nodes = Array.from({ length: Math.min(first, total - from) }, (_, n) => from + n)
    const end = from + nodes.length
    return { nodes, pageInfo: { hasNextPage: end < total, endCursor: String(end) } }
  }
  return { sizes, read }
}

describe('the pages of a list', () => {
  it.each([
    { limit: 1, sizes: [1] },
    { limit: 50, sizes: [50] },
    { limit: 120, sizes: [50, 50, 20] },
  ])('have $limit entries together with --limit $limit', async ({ limit, sizes }) => {
    const list = listOf(1_000)
    expect(await readFirstNodes(limit, list.read)).toEqual(Array.from({ length: limit }, (_, n) => n))
    expect(list.sizes).toEqual(sizes)
  })

  it('have every entry without a limit', async () => {
    expect(await readEveryNode(listOf(101).read)).toHaveLength(101)
    expect(await readEveryNode(listOf(0).read)).toEqual([])
  })
})
