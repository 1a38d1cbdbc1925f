import { hash } from 'node:crypto'
import { type ExecutionArgs, type ExecutionResult, getOperationAST, Kind, type OperationDefinitionNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../domain/access.ts'

type Run = () => Promise<ExecutionResult>

const resultsMax = 256

interface Shared {
  /** Logical time at which the execution began. */
  began: number
  result: Promise<Ended>
}

interface Ended {
  result: ExecutionResult
  ended: number
}

/**
 * Executes a message once for all subscribers with the same document, variables and permissions. A subscriber only gets
 * a result whose execution began after the end of its previous one, so it never sees an older state of a job after a
 * newer one.
 */
export class SharedResults {
  readonly #shared = new LRUCache<string, Shared>({ max: resultsMax })
  #moments = 0

  join(args: ExecutionArgs, viewer: Viewer): (message: unknown, run: Run) => Promise<ExecutionResult> {
    const audience = computeAudience(args, viewer)
    let seen = 0
    return async (message, run) => {
      const name = nameMessage(message)
      const key = name && `${audience} ${name}`
      const known = key ? this.#shared.get(key) : undefined
      const result = known && known.began > seen ? await waitForSuccess(known) : undefined
      const used = result ?? (await this.#execute(key, run))
      seen = Math.max(seen, used.ended)
      return used.result
    }
  }

  #execute(key: string | undefined, run: Run): Shared['result'] {
    this.#moments += 1
    const began = this.#moments
    const result = run().then((executed) => ({ result: executed, ended: ++this.#moments }))
    if (key) {
      this.#shared.set(key, { began, result })
      result.catch(() => this.#shared.delete(key))
    }
    return result
  }
}

/**
 * undefined: the execution failed, perhaps because its subscriber left. Then each other subscriber executes for itself.
 */
const waitForSuccess = ({ result }: Shared): Promise<Ended | undefined> =>
  result.then(
    (ended) => (ended.result.errors ? undefined : ended),
    () => undefined,
  )

/** The key of a message that subscribers share; undefined: the message is not shared. */
function nameMessage(message: unknown): string | undefined {
  if (isHeartbeat(message)) return `${JSON.stringify([message.cursor, message.toldMs])} ${message.at.getTime()}`
  if (!isTransitions(message)) return undefined
  const { jobId, events, cursor, mark, toldMs, phase, isFinal, job } = message
  const first = events[0]?.seq ?? ''
  const position = [cursor, mark, toldMs]
  return [jobId, first, events.length, ...position, phase, isFinal, job.version, job.toldAt?.getTime()].join(' ')
}

const isOfKind = (message: unknown, kind: string) =>
  typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind

const isHeartbeat = (message: unknown): message is { cursor: unknown; toldMs?: number; at: Date } =>
  isOfKind(message, 'heartbeat')

interface SharedMessage {
  jobId: string
  events: readonly { seq: number }[]
  cursor: number
  /** Changes if a failover reuses a cursor. */
  mark?: string | undefined
  toldMs?: number | undefined
  phase: string
  isFinal: boolean
  job: { version: number; toldAt: Date | null }
}

const isTransitions = (message: unknown): message is SharedMessage => isOfKind(message, 'transitions')

function computeAudience({ document, operationName, variableValues }: ExecutionArgs, viewer: Viewer): string {
  const text = document.loc?.source.body ?? ''
  const operation = getOperationAST(document, operationName || null)
  const start = operation && findStartVariable(operation, text)
  const variables = Object.entries(variableValues ?? {}).filter(([name]) => name !== start)
  const { userId, level, permissions, granted, scopes } = viewer
  const rights = [userId, level, [...permissions], [...granted], scopes]
  return hash('sha256', JSON.stringify([text, operationName, variables, rights]), 'base64url')
}

/** The variable that only determines the start of the stream and does not change messages. */
function findStartVariable(
  { selectionSet: { selections } }: OperationDefinitionNode,
  text: string,
): string | undefined {
  const [field] = selections
  if (field?.kind !== Kind.FIELD) return undefined
  const after = field.arguments?.find(({ name }) => name.value === 'after')?.value
  if (after?.kind !== Kind.VARIABLE) return undefined
  const name = after.name.value
  // The variable must occur exactly twice: in its declaration and in one use.
  return [...text.matchAll(new RegExp(`\\$\\s*${name}\\b`, 'g'))].length === 2 ? name : undefined
}
