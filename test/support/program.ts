import { join, relative } from 'node:path'
import {
  type CallExpression,
  type Identifier,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isPropertyAccessExpression,
  isShorthandPropertyAssignment,
  type NewExpression,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'
import {
  API,
  type Checker,
  type Symbol as Named,
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync'
import { root } from './sources.ts'

type Call = CallExpression | NewExpression
type Literal = Node & { text: string }

/** The sources of the product as the compiler sees them: trees, names and types. Loaded once, and closed by `using`. */
export interface Program extends Disposable {
  checker: Checker
  files: readonly SourceFile[]
  /** The declaration of a name, behind its imports. */
  named(name: Node): Named | undefined
  declarationOf(symbol: Named): Node | undefined
  /** All values of the type of an expression if the type lists them; one value for a number. */
  valuesOf(node: Node): readonly unknown[] | undefined
  /** All calls of a function in the product. */
  callsOf(name: Identifier): readonly Call[]
  /** The text of a literal or a name, and the items of a list, which the compiler's tree decodes each time. */
  textOf(node: Literal): string
  itemsOf<Item extends Node>(list: readonly Item[]): readonly Item[]
  /** Texts and numbers that are the same in each evaluation, by the number of their symbol. */
  constants: Map<number, unknown>
}

export function openProgram(): Program {
  const api = new API({ cwd: root })
  const snapshot = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] })
  const [project] = snapshot.getProjects()
  if (!project) throw new Error('The compiler finds no project')
  const { checker } = project
  const files = sourcesOf(project)
  const calls = callsByName(files)
  const named = remembered((name: Node) => behindImports(checker, name))
  return {
    checker,
    files,
    named,
    declarationOf: remembered((symbol) => (symbol.valueDeclaration ?? symbol.declarations[0])?.resolve(project)),
    valuesOf: remembered((node) => valuesOf(checker.getTypeAtLocation(node))),
    callsOf(name) {
      const symbol = named(name)
      return (calls.get(name.text) ?? []).filter(({ expression }) => named(nameIn(expression))?.id === symbol?.id)
    },
    textOf: remembered(({ text }) => text),
    itemsOf: remembered(<Item extends Node>(list: readonly Item[]) => [...list]) as Program['itemsOf'],
    constants: new Map(),
    [Symbol.dispose]: () => api.close(),
  }
}

/** Caches answers, because each question takes a round trip to the compiler. */
function remembered<Key, Answer>(ask: (key: Key) => Answer): (key: Key) => Answer {
  const answers = new Map<Key, Answer>()
  return (key) => {
    if (!answers.has(key)) answers.set(key, ask(key))
    return answers.get(key) as Answer
  }
}

const sourcesOf = ({ program }: Project): SourceFile[] =>
  program
    .getSourceFileNames()
    .filter((name) => /^src\/(?!.*\/generated\/)/.test(relative(root, name)))
    .flatMap((name) => program.getSourceFile(name) ?? [])

function behindImports(checker: Checker, name: Node): Named | undefined {
  const symbol = isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name)
  return symbol && symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** The last name of the called expression: `query` of `domain.db.sql.query`. */
const nameIn = (callee: Node): Node => (isPropertyAccessExpression(callee) ? callee.name : callee)

function callsByName(files: readonly SourceFile[]): ReadonlyMap<string, Call[]> {
  const found = new Map<string, Call[]>()
  for (const node of files.flatMap((file) => [...nodesIn(file)])) {
    if (!isCallExpression(node) && !isNewExpression(node)) continue
    const name = nameIn(node.expression)
    if (isIdentifier(name)) found.set(name.text, [...(found.get(name.text) ?? []), node])
  }
  return found
}

export function* nodesIn(node: Node): Generator<Node> {
  const children: Node[] = []
  node.forEachChild((child) => {
    children.push(child)
  })
  for (const child of children) {
    yield child
    yield* nodesIn(child)
  }
}

/** file:line */
export function formatLocation(node: Node): string {
  const file = node.getSourceFile()
  const line = file.text.slice(0, node.getStart(file)).split('\n').length
  return `${relative(root, file.fileName)}:${line}`
}

function valuesOf(type: Type | undefined): readonly unknown[] | undefined {
  if (type?.isLiteralType()) return [type.value]
  if (!type || type.flags & TypeFlags.Number) return type && [1]
  const parts = type.isUnionType() ? type.getTypes().map(valuesOf) : [undefined]
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined
}
