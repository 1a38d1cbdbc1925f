import { type Command, InvalidArgumentError } from 'commander'
import { createFailure } from '../../client/connection/failure.ts'
import type { Cli } from '../frame/cli.ts'
import { usageError } from '../frame/exit.ts'
import { readTextFile } from '../reading/inside.ts'
import { formatStructured } from '../showing/render.ts'

interface ApiOptions {
  field?: Record<string, unknown>
  paginate?: true
}

export function registerApiCommand(program: Command, cli: Cli): void {
  program
    .command('api')
    .argument('<query>', 'a GraphQL document, "@file", or "-" for stdin')
    .summary('send a GraphQL document')
    .description('send a GraphQL document and print its data as JSON; a subscription prints a line for each message')
    .option(
      '-F, --field <name=value>',
      'a variable of the document; the value is JSON or plain text; may be repeated',
      readField,
    )
    .option('--paginate', 'read all pages: the document has $after: Cursor, and pageInfo { hasNextPage endCursor }')
    .action(async (query: string, { field: variables = {}, paginate }: ApiOptions) => {
      const document = await readDocument(cli, query)
      if (/^\s*(#.*\n\s*)*subscription\b/.test(document)) return printMessages(cli, document, variables)
      if (paginate && !/\$after\b/.test(document))
        throw usageError('--paginate: the document has no variable $after', 'write "query ($after: Cursor) { … }"')
      for (let after: string | null | undefined; after !== null; ) {
        const data = await sendDocument(cli, document, paginate ? { ...variables, after } : variables)
        await cli.terminal.write(formatStructured(data, paginate ? 'jsonl' : 'json'))
        after = paginate ? findNextPage(data) : null
      }
    })
}

const readDocument = async (cli: Cli, query: string): Promise<string> =>
  query === '-' || query.startsWith('@') ? readTextFile(cli, query.replace(/^@/, '')) : query

async function sendDocument(cli: Cli, query: string, variables: Record<string, unknown>): Promise<object> {
  const { data, errors } = await cli.connection().ask<object>({ query, variables })
  if (errors || !data) throw createFailure(errors ?? [])
  return data
}

async function printMessages(cli: Cli, query: string, variables: Record<string, unknown>): Promise<void> {
  cli.leaveOnInterrupt('')
  for await (const { data, errors } of cli.connection().stream<object>({ query, variables })) {
    if (errors || !data) throw createFailure(errors ?? [])
    await cli.terminal.write(formatStructured(data, 'jsonl'))
  }
}

/** Finds the cursor after the first list in `value` that has a next page; null: no list has a next page. */
function findNextPage(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const { pageInfo } = value as { pageInfo?: { hasNextPage?: boolean; endCursor?: string | null } }
  if (pageInfo?.hasNextPage && pageInfo.endCursor) return pageInfo.endCursor
  return Object.values(value).reduce<string | null>((found, inner) => found ?? findNextPage(inner), null)
}

function readField(given: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const [, name, text = ''] = /^(\w+)=(.*)$/s.exec(given) ?? []
  if (name === undefined) throw new InvalidArgumentError('Expected name=value.')
  return { ...before, [name]: parseValue(text) }
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
