/** The nodes of a list in Slurm's form: `n[1-3,07],gpu1` is n1, n2, n3, n07, gpu1. */
export function expandHostlist(list: string): string[] {
  return splitOutside(list).flatMap(expand)
}

/** A list longer than this is no list of a cluster. */
const nodesMax = 100_000

/** At commas outside of brackets. */
const splitOutside = (list: string): string[] => list.match(/(?:\[[^\]]*\]|[^,[])+/g) ?? []

function expand(entry: string): string[] {
  const [, before, ranges, after] = entry.match(/^([^[]*)\[([^\]]*)\](.*)$/) ?? []
  if (before === undefined || ranges === undefined || after === undefined) return [entry]
  const rests = expand(after)
  return ranges
    .split(',')
    .flatMap((range) => numbers(range).flatMap((number) => rests.map((rest) => before + number + rest)))
}

function numbers(range: string): string[] {
  const [first = '', last = first] = range.split('-')
  const count = Math.min(nodesMax, Number(last) - Number(first) + 1)
  return Array.from({ length: count }, (_, at) => String(Number(first) + at).padStart(first.length, '0'))
}
