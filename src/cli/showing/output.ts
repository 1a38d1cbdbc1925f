import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { demandFields, type RowShape, selectFields } from '../reading/fields.ts'
import { type Column, formatStructured, jobColumns, table } from './render.ts'

/** How every command prints its result. */

export const formats = ['table', 'wide', 'json', 'jsonl', 'yaml', 'ids'] as const
type Format = (typeof formats)[number]

export interface Output {
  format: Format
  /** Paths such as `user.name`; null: all fields. */
  fields: readonly string[] | null
  /** true: the rows have all of `fields`; false: unknown until the result is there. */
  isChecked: boolean
}

export interface OutputOptions {
  output: Output
}

/** The fields of a command's result; undefined: unknown until the result is there. */
type PrintedShape = RowShape | ((command: Command) => RowShape | undefined)

/** Adds the output options. With `printed` the fields are checked before the command runs and changes something. */
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

/** An option that sets the fields of the option `output`. */
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

export const createRowPrinter =
  <Row extends object>(columns: readonly Column<Row>[]): RowPrinter<Row> =>
  async ({ terminal }, rows, output) =>
    terminal.write(
      isTable(output) ? table(terminal, rows, selectColumns(columns, output)) : await serialize(rows, output),
    )

export const selectColumns = <Row>(columns: readonly Column<Row>[], { format }: Output): readonly Column<Row>[] =>
  format === 'wide' ? columns : columns.filter(({ wide }) => !wide)

export const printJobs = createRowPrinter(jobColumns)

/** Prints an object. `view` formats it for people. */
export async function printObject(
  { terminal }: Pick<Cli, 'terminal'>,
  value: object,
  output: Output,
  view: () => string,
): Promise<void> {
  await terminal.write(isTable(output) ? view() : await serialize(value, output))
}

/** Prints ids of objects of which nothing else is known or needed. */
export const printIds = ({ terminal }: Pick<Cli, 'terminal'>, ids: readonly string[], output: Output): Promise<void> =>
  terminal.write(
    isTable(output) || output.format === 'ids'
      ? ids.map((id) => `${id}\n`).join('')
      : formatStructured(ids, textFormat(output)),
  )

export async function serialize(value: object | readonly object[], output: Output): Promise<string> {
  if (output.format === 'ids')
    return (Array.isArray(value) ? value : [value]).map((each) => `${readId(each)}\n`).join('')
  const selected = await selectFields(value, output)
  return formatStructured(selected, textFormat(output))
}

/** Returns the format for `formatStructured`; JSON for formats that it does not have. */
const textFormat = ({ format }: Output) => (format === 'jsonl' || format === 'yaml' ? format : 'json')

function readId(value: object): string {
  const { id } = value as { id?: unknown }
  if (typeof id !== 'string') throw usageError('these rows have no id', 'use another -o')
  return id
}
