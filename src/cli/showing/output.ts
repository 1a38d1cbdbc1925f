import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { demandFields, type RowShape, selectFields } from '../reading/fields.ts'
import { type Column, jobColumns, structured, table } from './render.ts'

/** How every verb prints its result. */

export const formats = ['table', 'wide', 'json', 'jsonl', 'yaml', 'ids'] as const
type Format = (typeof formats)[number]

export interface Output {
  format: Format
  /** Paths such as `user.name`; null: all. */
  fields: readonly string[] | null
  /** true: the rows have the fields; false: only the result shows which it has. */
  isChecked: boolean
}

export interface OutputOptions {
  output: Output
}

/** The fields of the result of a command; undefined: only the result shows them. */
type PrintedShape = RowShape | ((command: Command) => RowShape | undefined)

/** With a shape the fields are checked before the command runs, as a command that changes something needs. */
export function addOutputOption(command: Command, printed?: PrintedShape): Command {
  return command
    .hook('preAction', async (_, called) => {
      const { output }: OutputOptions = called.opts()
      const shape = typeof printed === 'function' ? printed(called) : printed
      if (!output.fields || !shape) return
      await demandFields(output.fields, shape)
      called.setOptionValue('output', { ...output, isChecked: true })
    })
    .addOption(
      new Option('-o, --output <format>', `output format: ${formats.join(', ')}`)
        .default({ format: 'table', fields: null, isChecked: false }, 'table')
        .argParser(readFormat),
    )
    .addOption(
      new FieldsOption('--json <fields>', 'only these fields, as JSON: id,state,user.name').argParser(readFields),
    )
}

/** Sets the fields of the option `output`. */
class FieldsOption extends Option {
  override attributeName(): string {
    return 'output'
  }
}

function readFormat(text: string, { fields }: Output): Output {
  const format = formats.find((each) => each === text)
  if (!format) throw new InvalidArgumentError(`Allowed choices are ${formats.join(', ')}.`)
  return combine(format, fields)
}

function readFields(text: string, { format }: Output): Output {
  const fields = text.split(',').filter((field) => field !== '')
  if (fields.length === 0) throw new InvalidArgumentError('Expected names of fields, such as id,state.')
  return combine(format, fields)
}

const combine = (format: Format, fields: Output['fields']): Output => ({
  format: fields && format !== 'jsonl' && format !== 'yaml' ? 'json' : format,
  fields,
  isChecked: false,
})

/** true: the text is for people, not for programs. */
export const isTable = ({ format }: Output): boolean => format === 'table' || format === 'wide'

export type RowPrinter<Row> = (cli: Pick<Cli, 'terminal'>, rows: readonly Row[], output: Output) => Promise<void>

export const rowPrinter =
  <Row extends object>(columns: readonly Column<Row>[]): RowPrinter<Row> =>
  async ({ terminal }, rows, output) =>
    terminal.write(
      isTable(output) ? table(terminal, rows, selectColumns(columns, output)) : await serialize(rows, output),
    )

export const selectColumns = <Row>(columns: readonly Column<Row>[], { format }: Output): readonly Column<Row>[] =>
  format === 'wide' ? columns : columns.filter(({ wide }) => !wide)

export const printJobs = rowPrinter(jobColumns)

/** Prints one object; `view` makes the text for people. */
export async function printObject(
  { terminal }: Pick<Cli, 'terminal'>,
  value: object,
  output: Output,
  view: () => string,
): Promise<void> {
  await terminal.write(isTable(output) ? view() : await serialize(value, output))
}

/** Prints ids, where they are all that is known or wanted. */
export const printIds = ({ terminal }: Pick<Cli, 'terminal'>, ids: readonly string[], output: Output): Promise<void> =>
  terminal.write(
    isTable(output) || output.format === 'ids'
      ? ids.map((id) => `${id}\n`).join('')
      : structured(ids, textFormat(output)),
  )

export async function serialize(value: object | readonly object[], output: Output): Promise<string> {
  if (output.format === 'ids')
    return (Array.isArray(value) ? value : [value]).map((each) => `${readId(each)}\n`).join('')
  const selected = await selectFields(value, output)
  return structured(selected, textFormat(output))
}

/** The format of `structured`; JSON for the formats that it does not have. */
const textFormat = ({ format }: Output) => (format === 'jsonl' || format === 'yaml' ? format : 'json')

function readId(value: object): string {
  const { id } = value as { id?: unknown }
  if (typeof id !== 'string') throw usageError('these rows have no id', 'use another -o')
  return id
}
