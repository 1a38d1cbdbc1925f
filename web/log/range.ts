/** Selected lines, as the fragment of a URL has them: `#L120` or `#L120-L140`. */
export interface Range {
  from: number
  to: number
}

export function parseRange(hash: string): Range | null {
  const [, from, to = from] = hash.match(/^#L(\d{1,12})(?:-L?(\d{1,12}))?$/) ?? []
  if (from === undefined || to === undefined || from === '0') return null
  const [a, b] = [Number(from), Number(to)]
  return { from: Math.min(a, b), to: Math.max(a, b) }
}

export const formatRange = ({ from, to }: Range): string => (from === to ? `L${from}` : `L${from}-L${to}`)
