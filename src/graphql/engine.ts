import {
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  visit,
} from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { anonymous, type Viewer } from '../domain/access.ts'
import { createContext, type RequestContext, type Rooms } from './context.ts'
import { presentError, refusal } from './errors.ts'
import { costOf, limits, parseWithinLimits } from './limits.ts'
import { type Staying, subscriptionsPlugin } from './subscriptions.ts'

/**
 * How a document becomes a result: parse → validate → cost → execute, the same for HTTP, SSE and WebSocket, because all
 * of it hangs on the hooks that the sockets run too (`getEnveloped`); nothing of the gate is HTTP middleware.
 */
export type Engine = ReturnType<typeof createEngine>

/** What a transport knows of a request. */
export interface Caller extends Staying {
  viewer: Viewer
}

export interface EngineOptions {
  schema: GraphQLSchema
  rooms: Rooms
}

export function createEngine({ schema, rooms }: EngineOptions) {
  return createYoga<Caller, RequestContext>({
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
    onParse: ({ setParseFn }) => setParseFn((text: string) => parseWithinLimits(text)),
    onValidate:
      () =>
      ({ valid, result, setResult }) => {
        if (!valid) setResult(result.map((error: Error) => presentError(validationFailed(error), log)))
      },
    onExecute({ args, setExecuteFn, setResultAndStopExecution }) {
      const cost = admit(args, log)
      if (typeof cost !== 'number') return setResultAndStopExecution(cost)
      setExecuteFn(execute)
      return {
        onExecuteDone({ result, setResult }) {
          if ('data' in result || 'errors' in result)
            setResult({ ...result, extensions: { ...result.extensions, cost } })
        },
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const cost = admit(args, log)
      if (typeof cost !== 'number') setResultAndStopExecution(cost)
    },
  }
}

function validationFailed(error: Error): Error {
  if (!(error instanceof GraphQLError)) return error
  error.extensions['code'] ??= 'GRAPHQL_VALIDATION_FAILED'
  error.extensions['http'] ??= { spec: true, status: 400 }
  return error
}

/** What the operation costs, or the refusal in the form of a result. Introspection has no resolver that could refuse. */
function admit(args: ExecutionArgs, log: Rooms['log']): number | ExecutionResult {
  try {
    const { viewer } = args.contextValue as RequestContext
    if (viewer === anonymous && introspects(args.document)) throw refusal('UNAUTHENTICATED', 'Log in first')
    return costOf({ ...args, variableValues: args.variableValues ?? {} })
  } catch (error) {
    return { errors: [presentError(error, log)] }
  }
}

function introspects(document: DocumentNode): boolean {
  let found = false
  visit(document, {
    Field({ name }) {
      if (name.value !== '__schema' && name.value !== '__type') return undefined
      found = true
      return BREAK
    },
  })
  return found
}
