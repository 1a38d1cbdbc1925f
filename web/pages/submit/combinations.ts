/** A sweep: names with values, and one job for each combination of values. */

export interface Dimension {
  name: string
  values: readonly string[]
}

export type Combination = Readonly<Record<string, string>>

const combinationsMax = 1_000

export type Sweep = { dimensions: readonly Dimension[]; combinations: readonly Combination[]; trouble: string | null }

const none = (trouble: string | null): Sweep => ({ dimensions: [], combinations: [], trouble })

/** Parses `lr = 0.1, 0.01 × seed = 1..4`. `x`, `;` and line breaks also separate names. */
export function parseSweep(text: string): Sweep {
  const parts = text.split(/\s*[×;\n]\s*|\s+x\s+(?=[A-Za-z_][\w.-]*\s*=)/).filter((part) => part.trim() !== '')
  if (parts.length === 0) return none(null)
  const dimensions: Dimension[] = []
  for (const part of parts) {
    const [, name, list] = part.match(/^\s*([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*$/) ?? []
    if (name === undefined || list === undefined || list === '')
      return none(`“${part.trim()}” is not a name with values. Write “lr = 0.1, 0.01”.`)
    if (dimensions.some((each) => each.name === name)) return none(`“${name}” occurs twice.`)
    const values = list.split(/\s*,\s*/).flatMap(expandRange)
    if (values.length > combinationsMax) return none(tooMany)
    dimensions.push({ name, values: [...new Set(values)] })
  }
  const count = dimensions.reduce((product, { values }) => product * values.length, 1)
  if (count > combinationsMax) return none(tooMany)
  return { dimensions, combinations: combine(dimensions), trouble: null }
}

const tooMany = `A sweep has at most ${combinationsMax.toLocaleString('en')} jobs.`

/** Expands the ranges `1..4` and `0..1..0.25`. Other texts are single values. */
function expandRange(text: string): string[] {
  const [, from, to, step = '1'] = text.match(/^(-?[\d.]+?)\.\.(-?[\d.]+?)(?:\.\.([\d.]+))?$/) ?? []
  if (from === undefined || to === undefined) return text === '' ? [] : [text]
  const [first, last, width] = [Number(from), Number(to), Number(step)]
  if (!Number.isFinite(first) || !Number.isFinite(last) || !(width > 0)) return [text]
  const count = Math.floor(Math.abs(last - first) / width + 1e-9) + 1
  const sign = Math.sign(last - first) || 1
  return Array.from({ length: Math.min(count, combinationsMax + 1) }, (_, i) =>
    String(Number((first + sign * width * i).toPrecision(12))),
  )
}

const combine = (dimensions: readonly Dimension[]): Combination[] =>
  dimensions.reduce<Combination[]>(
    (done, { name, values }) => done.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  )

/** Replaces `${name}` in all strings of `value`. References to unknown names stay. */
export function fillReferences(value: unknown, combination: Combination): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{([A-Za-z_][\w.-]*)\}/g, (whole, name: string) =>
      Object.hasOwn(combination, name) ? (combination[name] ?? whole) : whole,
    )
  if (Array.isArray(value)) return value.map((each) => fillReferences(each, combination))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillReferences(each, combination)]))
}

/** Lists the names to which the spec has no reference. */
export const findUnused = (spec: unknown, { dimensions }: Sweep): string[] => {
  const text = JSON.stringify(spec) ?? ''
  return dimensions.map(({ name }) => name).filter((name) => !text.includes(`\${${name}}`))
}

interface Swept {
  sweep: Sweep
  /** The value of the label `sweep`, which all jobs get. */
  label: string
}

interface Label {
  key: string
  value: string
}

/** Makes the specs of all combinations, each with labels and a number in its name. */
export function sweepSpecs(
  spec: Readonly<Record<string, unknown>>,
  { sweep, label }: Swept,
): Record<string, unknown>[] {
  const { combinations, dimensions } = sweep
  const own = new Set(['sweep', ...dimensions.map(({ name }) => name)])
  const kept = (Array.isArray(spec['labels']) ? (spec['labels'] as Label[]) : []).filter((each) => !own.has(each?.key))
  const digits = String(combinations.length).length
  return combinations.map((combination, i) => {
    const filled = fillReferences(spec, combination) as Record<string, unknown>
    const added = Object.entries(combination).map(([key, value]) => ({ key, value }))
    const { name } = spec
    const numbered = typeof name === 'string' && filled['name'] === name
    return {
      ...filled,
      ...(numbered && { name: `${name}-${String(i + 1).padStart(digits, '0')}` }),
      labels: [...(fillReferences(kept, combination) as Label[]), { key: 'sweep', value: label }, ...added],
    }
  })
}
