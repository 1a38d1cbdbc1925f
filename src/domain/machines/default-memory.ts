import type { Shape } from '../shape.ts'

interface Machine {
  cpuMillis: number
  memoryBytes: number
  /** Not null: a node of a backend that chooses nodes itself. */
  others: object | null
}

const mebibyte = 2 ** 20
const shareMin = 2 ** 30
/** Fraction of the memory of a delegated node that jobs get; the backend keeps the rest for the system. */
const shareOfCluster = 0.9

/**
 * The default memory of a copy: the fraction of the memory that corresponds to its fraction of the cores, on the node
 * where this is least, so that the job fits on each node. So jobs with default memory never run out of memory before
 * cores.
 */
export function computeDefaultMemory({ cpuMillis, exclusive }: Shape, nodes: readonly Machine[]): number | null {
  if (nodes.length === 0) return null
  const shares = nodes.map((node) => {
    const part = exclusive ? 1 : cpuMillis / Math.max(node.cpuMillis, 1)
    const bytes = node.memoryBytes * part * (node.others ? shareOfCluster : 1)
    return Math.max(Math.floor(bytes / mebibyte) * mebibyte, Math.min(shareMin, node.memoryBytes))
  })
  return shares.reduce((least, share) => Math.min(least, share))
}
