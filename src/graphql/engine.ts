import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { anonymous, type Viewer } from '../domain/access.ts'
import { createContext, type RequestContext, type Rooms } from './context.ts'
import { costOf, rootFieldsOf } from './cost.ts'
import { errorsMax, presentError, refusal, withFewErrors } from './errors.ts'
import { chosenOperation, limits, parseWithinLimits } from './limits.ts'
import { type Staying, subscriptionsPlugin } from './subscriptions.ts'
import { coerceVariables } from './variables.ts'

/**
 * How a document becomes a result: parse → validate → cost → execute, the same for HTTP, SSE and WebSocket, because all
 * of it hangs on the hooks that the sockets run too (`getEnveloped`); nothing of the gate is HTTP middleware.
 */

export type GraphqlEngine = ReturnType<typeof createGraphqlEngine>

/** What a transport knows of a request. */
export interface Requester extends Staying {
  viewer: Viewer
}

export interface EngineOptions {
  schema: GraphQLSchema
  rooms: Rooms
}

export function createGraphqlEngine({ schema, rooms }: EngineOptions) {
  return createYoga<Requester, RequestContext>({
    schema,
    context: ({ viewer }) => createContext(rooms, viewer),
    plugins: [gatePlugin(rooms), subscriptionsPlugin(rooms)],
    maskedErrors: { maskError: (error) => presentError(error, rooms.log) },
    maxRequestBodySize: limits.bodyBytesMax,
    batching: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    multipart: false,
  })
}

/** Limits of a document, of its cost, and the form of what validation has to say. */
function gatePlugin({ log }: Rooms): Plugin<RequestContext> {
  return {
    onRequestParse({ request, url }) {
      if (request.method === 'GET') for (const name of ['variables', 'extensions']) demandJson(url, name)
    },
    onParse: ({ setParseFn }) => setParseFn((text: string) => parseWithinLimits(text)),
    onValidate:
      () =>
      ({ valid, result, setResult }) => {
        if (!valid)
          setResult(result.slice(0, errorsMax).map((error: Error) => presentError(validationFailed(error), log)))
      },
    async onExecute({ args, setExecuteFn, setResultAndStopExecution }) {
      const cost = await admit(args, log)
      if (typeof cost !== 'number') return setResultAndStopExecution(cost)
      setExecuteFn(execute)
      return {
        onExecuteDone({ result, setResult }) {
          if ('data' in result || 'errors' in result)
            setResult(withFewErrors({ ...result, extensions: { ...result.extensions, cost } }))
        },
      }
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const cost = await admit(args, log)
      if (typeof cost !== 'number') setResultAndStopExecution(cost)
    },
  }
}

/** Yoga would take a parameter that is no JSON for a failure of its own. */
function demandJson({ searchParams }: URL, name: string): void {
  try {
    JSON.parse(searchParams.get(name) || 'null')
  } catch {
    throw new GraphQLError(`\`${name}\` is not valid JSON`, {
      extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
    })
  }
}

function validationFailed(error: Error): Error {
  if (!(error instanceof GraphQLError)) return error
  error.extensions['code'] ??= 'GRAPHQL_VALIDATION_FAILED'
  error.extensions['http'] ??= { spec: true, status: 400 }
  return error
}

/** What the operation costs, or the refusal in the form of a result. */
async function admit(args: ExecutionArgs, log: Rooms['log']): Promise<number | ExecutionResult> {
  const { schema, document, operationName, variableValues } = args
  const operation = chosenOperation(document, operationName)
  if (!operation) return 0
  try {
    const { viewer } = args.contextValue as RequestContext
    if (viewer === anonymous) demandLogInPage(document, operation)
    const coerced = await coerceVariables(schema, operation, variableValues ?? {})
    if ('errors' in coerced) return { errors: coerced.errors.map((error) => presentError(error, log)) }
    const costMax = viewer === anonymous ? limits.anonymousCostMax : limits.costMax
    return costOf({ schema, document, operation, values: coerced.values }, costMax)
  } catch (error) {
    return { errors: [presentError(error, log)] }
  }
}

/** What a caller without a token may ask: fields of serverInfo, without variables, so nothing is coerced for it. */
function demandLogInPage(document: DocumentNode, operation: OperationDefinitionNode): void {
  const allowed = [...rootFieldsOf(document, operation)].every((name) => ['serverInfo', '__typename'].includes(name))
  if (!allowed || (operation.variableDefinitions ?? []).length > 0)
    throw refusal('UNAUTHENTICATED', 'Authentication required; log in and send a token')
}
