/** Limits that no real cluster or host name exceeds. */
const nodesMax = 16_384
const nameMax = 253
const dimensionsMax = 5

/**
 * Expands `n[1-3,07],gpu1` to n1, n2, n3, n07, gpu1. The result is limited, because a job can record a list of billions
 * of nodes.
 */
export const expandHostlist = (list: string): string[] =>
  namesIn(list)
    .take(nodesMax)
    .filter((name) => name.length <= nameMax)
    .toArray()

function* namesIn(list: string): Generator<string> {
  for (const entry of splitOutsideBrackets(list)) yield* expand(entry)
}

const splitOutsideBrackets = (list: string): string[] => list.match(/(?:\[[^\]]*\]?|[^,[])+/g) ?? []

function* expand(entry: string): Generator<string> {
  const [, before, ranges, after] = entry.match(/^([^[]*)\[([^\]]*)\](.*)$/) ?? []
  if (before === undefined || ranges === undefined || after === undefined) return yield entry
  if (entry.split('[').length - 1 > dimensionsMax) return
  const rests = expand(after).take(nodesMax).toArray()
  for (const range of ranges.split(','))
    for (const number of numbers(range)) for (const rest of rests) yield before + number + rest
}

/** Each range must have a number, because empty ranges could be repeated without end. */
function* numbers(range: string): Generator<string> {
  const [first = '', last = first] = range.split('-')
  yield first
  for (let at = Number(first) + 1; at <= Number(last); at++) yield String(at).padStart(first.length, '0')
}
