import { createHash } from 'node:crypto'
import { type ExecutionArgs, type ExecutionResult, Kind, type OperationDefinitionNode } from 'graphql'
import type { Viewer } from '../../domain/access.ts'
import { chosenOperation } from '../operation.ts'

/**
 * Subscribers with the same document, the same variables and the same rights are shown the same by the same message, so
 * it is executed once for all of them. A subscriber never gets a result whose execution began before the one it got
 * last had ended: what it sees of a job is never older than what it saw before.
 */
export interface SharedResults {
  /** What one subscription remembers of the others' results. */
  join(args: ExecutionArgs, viewer: Viewer): (message: unknown, run: Run) => Promise<ExecutionResult>
}

type Run = () => Promise<ExecutionResult>

/** Results that are kept, the newest. */
const resultsMax = 256

interface Shared {
  /** When its execution began. */
  began: number
  result: Promise<Ended>
}

interface Ended {
  result: ExecutionResult
  ended: number
}

export function createSharedResults(): SharedResults {
  const shared = new Map<string, Shared>()
  let moments = 0

  function execute(run: Run): Shared {
    moments += 1
    return { began: moments, result: run().then((result) => ({ result, ended: ++moments })) }
  }

  function keep(key: string, made: Shared) {
    shared.delete(key)
    shared.set(key, made)
    for (const oldest of shared.keys()) {
      if (shared.size <= resultsMax) break
      shared.delete(oldest)
    }
    made.result.catch(() => shared.delete(key))
  }

  function own(key: string | undefined, run: Run): Shared['result'] {
    const made = execute(run)
    if (key) keep(key, made)
    return made.result
  }

  return {
    join(args, viewer) {
      const audience = audienceOf(args, viewer)
      let seen = 0
      return async (message, run) => {
        const name = nameOf(message)
        const key = name && `${audience} ${name}`
        const known = key ? shared.get(key) : undefined
        const result = known && known.began > seen ? await succeeded(known) : undefined
        const used = result ?? (await own(key, run))
        seen = Math.max(seen, used.ended)
        return used.result
      }
    },
  }
}

/** undefined: it failed, perhaps because the subscriber that executed it left; the others try by themselves. */
const succeeded = ({ result }: Shared): Promise<Ended | undefined> =>
  result.then(
    (ended) => (ended.result.errors ? undefined : ended),
    () => undefined,
  )

/** Equal for messages that say the same; undefined: it is not shared. */
function nameOf(message: unknown): string | undefined {
  if (isHeartbeat(message)) return `${JSON.stringify(message.cursor)} ${message.at.getTime()}`
  if (!isTransitions(message)) return undefined
  const { jobId, events, cursor, mark, phase, isFinal, job } = message
  const first = events[0]?.seq ?? ''
  return [jobId, first, events.length, cursor, mark, phase, isFinal, job.version, job.toldAt?.getTime()].join(' ')
}

/** The job is in the variables or in the document. */
const isHeartbeat = (message: unknown): message is { cursor: unknown; at: Date } =>
  typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'heartbeat'

interface SharedMessage {
  jobId: string
  events: readonly { seq: number }[]
  cursor: number
  /** Differs if a failover gave the same cursor again. */
  mark?: string | undefined
  phase: string
  isFinal: boolean
  job: { version: number; toldAt: Date | null }
}

const isTransitions = (message: unknown): message is SharedMessage =>
  typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'transitions'

function audienceOf({ document, operationName, variableValues }: ExecutionArgs, viewer: Viewer): string {
  const text = document.loc?.source.body ?? ''
  const operation = chosenOperation(document, operationName)
  const start = operation && startVariable(operation, text)
  const variables = Object.entries(variableValues ?? {}).filter(([name]) => name !== start)
  const { userId, level, permissions, granted, scopes } = viewer
  const rights = [userId, level, [...permissions], [...granted], scopes]
  return createHash('sha256')
    .update(JSON.stringify([text, operationName, variables, rights]))
    .digest('base64url')
}

/** The variable that says where the stream begins, if it says nothing else: it does not change what a message shows. */
function startVariable({ selectionSet: { selections } }: OperationDefinitionNode, text: string): string | undefined {
  const [field] = selections
  if (field?.kind !== Kind.FIELD) return undefined
  const after = field.arguments?.find(({ name }) => name.value === 'after')?.value
  if (after?.kind !== Kind.VARIABLE) return undefined
  const name = after.name.value
  // Once where it is declared, and once where it is used.
  return [...text.matchAll(new RegExp(`\\$\\s*${name}\\b`, 'g'))].length === 2 ? name : undefined
}
