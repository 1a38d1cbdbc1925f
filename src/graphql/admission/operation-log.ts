import type { ExecutionArgs, ExecutionResult, OperationDefinitionNode } from 'graphql'
import type { Log } from '../../platform/log.ts'
import { collectRootFields } from '../operation.ts'
import { currentRequest } from '../request-scope.ts'
import type { RequestContext } from '../rows/context.ts'

const slowMs = 1_000
/** Maximum length of a logged operation name, because callers may send longer ones. */
const nameCharactersMax = 100

/** Logs each mutation and each slow query, without variables and results: both may contain secrets. */
export function logOperation(
  log: Log,
  { document, contextValue }: ExecutionArgs,
  { operation, result, ms }: { operation: OperationDefinitionNode; result: ExecutionResult; ms: number },
): void {
  const level = ms > slowMs ? 'warn' : 'info'
  if (!log.isLevelEnabled(level) || (level === 'info' && operation.operation !== 'mutation')) return
  const { viewer } = contextValue as RequestContext
  const { id: requestId, ip } = currentRequest()
  const fields = {
    operation: operation.name?.value.slice(0, nameCharactersMax),
    fields: [...new Set(collectRootFields(document, operation).map(({ name }) => name.value))],
    user: viewer.userName,
    userId: viewer.userId,
    outcome: nameOutcome(result),
    ms: Math.round(ms),
    requestId,
    ip,
  }
  log[level](fields, level === 'warn' ? `a slow ${operation.operation}` : 'a mutation')
}

function nameOutcome({ errors = [] }: ExecutionResult): string {
  const codes = new Set([...currentRequest().problems, ...errors.map(({ extensions }) => String(extensions['code']))])
  return codes.size === 0 ? 'OK' : [...codes].join(', ')
}
