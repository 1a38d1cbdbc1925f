import { measureFunctions } from './support/functions.ts'
import {
  code,
  findImportCycles,
  findMutualRooms,
  findRoom,
  listImports,
  repository,
  type Source,
  typedDocuments,
} from './support/sources.ts'

/** Prints the size of the code, for `npm run check`. */
const within = (folder: string) => code.filter(({ path }) => path.startsWith(`${folder}/`))
const source = within('src')
const browser = within('web')
const housed = [...source, ...browser]
const lines = source.map((file) => file.lines.length)
const lengths = measureFunctions().flatMap(({ path, length }) => (path.startsWith('src/') ? [length] : []))
const isGenerated = ({ path }: Source) => /(^|\/)generated\/|^(schema\.graphql|docs\/cli-reference\.md)$/.test(path)

const count = (files: readonly Source[]) => files.reduce((sum, file) => sum + file.lines.length, 0)
const countWritten = (pattern: RegExp) =>
  count(repository.filter((file) => pattern.test(file.path) && !isGenerated(file)))
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
const summary = (values: readonly number[]) =>
  `${quantile(values, 0.5)} / ${quantile(values, 0.9)} / ${Math.max(...values)}`

const arrows = new Set(
  housed.flatMap((file) =>
    listImports(file).flatMap((target) => {
      const [from, to] = [findRoom(file.path), findRoom(target)]
      return from && to && from !== to ? [`${from} → ${to}`] : []
    }),
  ),
)

const rows: readonly (readonly [string, string | number])[] = [
  ['files of src · web', `${source.length} · ${browser.length}`],
  ['lines of src · web', `${count(source)} · ${countWritten(/^web\/.*\.(tsx?|css|graphql|html)$/)}`],
  ['lines of Python · examples', `${countWritten(/^clients\/python\/src\/.*\.py$/)} · ${countWritten(/^examples\//)}`],
  ['lines of tests', countWritten(/^(test|clients\/python\/tests)\/.*\.(tsx?|py)$/)],
  [
    'lines generated and committed',
    count(
      repository.filter((file) => isGenerated(file) && !typedDocuments.some((folder) => file.path.startsWith(folder))),
    ),
  ],
  ['lines of a file: median / p90 / maximum', summary(lines)],
  ['lines of a function: median / p90 / maximum', summary(lengths)],
  ['functions over 70 lines', lengths.filter((length) => length > 70).length],
  ['import cycles', findImportCycles(housed).length],
  ['arrows between rooms', arrows.size],
  ['pairs of rooms that import each other', findMutualRooms(housed).length],
]
const width = Math.max(...rows.map(([name]) => name.length))
for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`)
