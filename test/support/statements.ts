import {
  type CallExpression,
  isCallExpression,
  isPropertyAccessExpression,
  type Node,
  type PropertyAccessExpression,
} from 'typescript/unstable/ast'
import { runAllChoices } from './choices.ts'
import { Evaluator } from './evaluate.ts'
import { formatLocation, nodesIn, type Program } from './program.ts'
import { findReader, type Reader } from './readers.ts'
import { isRefused, isUnknown, unlessRefused, type Value } from './values.ts'

/** A hand-written statement of the product's source. */
export interface Statement {
  /** file:line */
  place: string
  /** All texts that it may have: at least one for each branch of a condition. */
  texts: readonly string[]
  reader: Reader
  /** true: `Sql` converts 64-bit integers to numbers; false: a plain client returns them as text. */
  parsesInt8: boolean
}

/**
 * Files without statements over columns of tables: they create or pass on `Sql`, use a server before it has the schema,
 * or copy every table by its name.
 */
const apart =
  /src\/(backup\/(catalog|restore|take-backup|verify)|platform\/(db|tx|models|combined-reads|limited-db|migrate|wakeup|postgres\/postgres)|graphql\/rows\/list-reads)\.ts$/

/** Lists all statements. Throws with those whose text or rows are not known from the source. */
export function listStatements(program: Program): Statement[] {
  const hidden: string[] = []
  const statements = queriesOf(program).flatMap((query) => {
    try {
      return [readStatement(program, query)]
    } catch (error) {
      hidden.push(`unknown statement at ${formatLocation(query)}: ${(error as Error).message}`)
      return []
    }
  })
  if (hidden.length > 0) throw new Error(hidden.join('\n'))
  return statements
}

/** `query` of an `Sql` or a client, called or not, because a function that is passed on would be called elsewhere. */
const queriesOf = (program: Program): PropertyAccessExpression[] =>
  program.files
    .filter(({ fileName }) => !apart.test(fileName))
    .flatMap((file) => [...nodesIn(file)])
    .flatMap((node) => (isPropertyAccessExpression(node) ? [node] : []))
    .filter(({ name }) => name.text === 'query' && isOfDatabase(program, name))

function isOfDatabase(program: Program, name: Node): boolean {
  const file = fileOf(program, name)
  return file !== undefined && [sqlFile, '/@types/pg/index.d.ts'].some((end) => file.endsWith(end))
}

const sqlFile = '/src/platform/tx.ts'

function fileOf(program: Program, name: Node): string | undefined {
  const symbol = program.named(name)
  return symbol && program.declarationOf(symbol)?.getSourceFile().fileName
}

function readStatement(program: Program, query: PropertyAccessExpression): Statement {
  const call = query.parent
  if (!isCallExpression(call) || call.expression !== query) throw new Error('it is not called here')
  return {
    place: formatLocation(query),
    texts: textsOf(program, call),
    reader: findReader(program.checker, call),
    parsesInt8: fileOf(program, query.name)?.endsWith(sqlFile) === true,
  }
}

function textsOf(program: Program, call: CallExpression): string[] {
  const reached = knownTexts(branchesOf(program, call, (evaluator) => evaluator.reaches(call)))
  const texts = reached.length > 0 ? reached : knownTexts(branchesOf(program, call))
  if (texts.length === 0) throw new Error('no branch leads to it')
  return texts
}

/** The text in each branch of a condition. */
const branchesOf = (program: Program, call: CallExpression, counts: (evaluator: Evaluator) => boolean = () => true) =>
  runAllChoices((choices) => {
    const evaluator = new Evaluator(program, choices)
    const [text] = call.arguments
    return unlessRefused(() => (text && counts(evaluator) ? evaluator.value(text) : ''))
  })

function knownTexts(branches: readonly Value[]): string[] {
  const texts = new Set<string>()
  for (const text of branches) {
    if (typeof text === 'string') texts.add(text)
    else if (!isRefused(text))
      throw new Error(isUnknown(text) ? `its text needs ${text.origin}` : 'its text is not a string')
  }
  return [...texts].filter(Boolean)
}
