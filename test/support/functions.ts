import { join, relative } from 'node:path'
import {
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { nodesIn } from './program.ts'
import { code, root } from './sources.ts'

export interface MeasuredFunction {
  path: string
  /** First line, from 1. */
  line: number
  /** Number of lines, including inner functions. */
  length: number
}

/** Lists every function of the hand-written code, measured by the syntax tree. */
export function measureFunctions(): MeasuredFunction[] {
  const api = new API({ cwd: root })
  try {
    const openProjects = ['tsconfig.json', 'web/tsconfig.json'].map((path) => join(root, path))
    const projects = api.updateSnapshot({ openProjects }).getProjects()
    if (projects.length !== openProjects.length) throw new Error('The compiler does not find every project')
    const paths = new Set(code.map(({ path }) => path))
    return projects.flatMap(({ program }) =>
      program
        .getSourceFileNames()
        // Each file once, because both projects contain files of the client and the console.
        .filter((name) => paths.delete(relative(root, name)))
        .flatMap((name) => program.getSourceFile(name) ?? [])
        .flatMap(functionsIn),
    )
  } finally {
    api.close()
  }
}

function functionsIn(file: SourceFile): MeasuredFunction[] {
  const path = relative(root, file.fileName)
  const lineAt = (position: number) => file.text.slice(0, position).split('\n').length
  return [...nodesIn(file)].filter(isFunction).map((node) => {
    const line = lineAt(node.getStart(file))
    return { path, line, length: lineAt(node.end) - line + 1 }
  })
}

const isFunction = (node: Node): boolean =>
  isFunctionDeclaration(node) ||
  isFunctionExpression(node) ||
  isArrowFunction(node) ||
  isMethodDeclaration(node) ||
  isConstructorDeclaration(node)
