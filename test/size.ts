import { measureFunctions } from './support/functions.ts'
import { code, findImportCycles, importsOf, roomOf } from './support/sources.ts'

/** Prints how large the code is, for `npm run check`. */
const source = code.filter(({ path }) => path.startsWith('src/'))
const files = source.map(({ lines }) => lines.length)
const functions = measureFunctions().filter(({ path }) => path.startsWith('src/'))
const lengths = functions.map(({ length }) => length)

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
const summary = (values: readonly number[]) =>
  `${quantile(values, 0.5)} / ${quantile(values, 0.9)} / ${Math.max(...values)}`

const arrows = new Set(
  source
    .flatMap(({ path, ...file }) =>
      importsOf({ path, ...file }).map((target) => [roomOf(path), roomOf(target)] as const),
    )
    .filter(([from, to]) => from !== to && from?.startsWith('graphql') && to?.startsWith('graphql'))
    .map((pair) => pair.join(' → ')),
)

const rows: readonly (readonly [string, string | number])[] = [
  ['files of src', files.length],
  ['lines of src', files.reduce((sum, lines) => sum + lines, 0)],
  ['lines of a file: median / p90 / maximum', summary(files)],
  ['lines of a function: median / p90 / maximum', summary(lengths)],
  ['functions over 70 lines', lengths.filter((length) => length > 70).length],
  ['import cycles', findImportCycles(source).length],
  ['arrows between rooms of graphql', arrows.size],
]
const width = Math.max(...rows.map(([name]) => name.length))
for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`)
