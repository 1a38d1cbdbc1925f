import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  type ValidationContext,
} from 'graphql'
import type { Plugin, YogaInitialContext } from 'graphql-yoga'
import { anonymous, type Viewer } from '../../domain/access.ts'
import type { Log } from '../../platform/log.ts'
import { limits } from '../caller-limits.ts'
import { badRequest, errorsMax, limitErrors, presentError, refusal } from '../errors.ts'
import type { KeyedLimit } from '../keyed-limit.ts'
import { collectRootFields } from '../operation.ts'
import { countInvalidRequest, countSubscription, measureRequest } from '../request-metrics.ts'
import type { RequestContext } from '../rows/context.ts'
import { computeCost, countSubmissions } from './cost.ts'
import type { ExistingCounts } from './existing.ts'
import { logOperation } from './operation-log.ts'
import { parseDocument } from './parsed-documents.ts'
import type { RateLimits } from './rate-limits.ts'
import type { TrustedDocuments } from './trusted-documents.ts'
import { applyCoercedVariables, coerceVariables, type Variables } from './variables.ts'

export interface AdmissionRules {
  documents: TrustedDocuments
  rateLimits: RateLimits
  costInFlight: KeyedLimit
  existing: Pick<ExistingCounts, 'counts'>
  /** Whether authenticated callers may introspect the schema. */
  introspection: boolean
}

/** The cost of a subscription, charged for its first message. */
export interface StreamCost {
  cost?: number
}

/**
 * Decides whether a document is executed. The checks in order: it is trusted, within the limits of its shape, allowed
 * for this caller, valid, within the maximum cost, and within the rate limits of its user. The checks are hooks, so
 * they also apply to sockets (`getEnveloped`). Parsed and validated documents are cached for all callers; refusals that
 * depend on the caller are thrown and never cached.
 */
export function admissionPlugin(rules: AdmissionRules, log: Log): Plugin<RequestContext & StreamCost> {
  const { documents, introspection } = rules
  const present = (error: GraphQLError, viewer: Viewer) =>
    presentError(introspection && viewer !== anonymous ? error : removeSuggestion(error), log)
  return {
    onRequestParse({ request, url }) {
      if (request.method !== 'GET') return
      for (const name of ['variables', 'extensions']) demandJson(url, name)
      return {
        onRequestParseDone({ requestParserResult: params, setRequestParserResult }) {
          const documentId = url.searchParams.get('documentId')
          if (documentId !== null) setRequestParserResult(Object.assign({}, params, { documentId }))
        },
      }
    },
    onParams({ params, setParams, context }) {
      if (typeof params === 'object' && params !== null)
        setParams(documents.resolve(params, (context as unknown as RequestContext).viewer))
    },
    onParse({ context, setParseFn }) {
      setParseFn((text: string) => parseDocument(text))
      return ({ result }) => {
        if (result instanceof Error) return countInvalidRequest()
        demandAllowed(context, result as DocumentNode)
      }
    },
    onValidate({ context, addValidationRule }) {
      if (!introspection) addValidationRule(forbidIntrospection)
      return ({ valid, result, setResult }) => {
        if (valid) return
        countInvalidRequest()
        const errors = result.map(releaseFrames).slice(0, errorsMax) as GraphQLError[]
        const { viewer } = context as RequestContext
        setResult(errors.map((error) => releaseFrames(present(describeInvalid(error), viewer))))
      }
    },
    async onExecute({ args, setExecuteFn, setResultAndStopExecution }) {
      const measured = beginOperation(args, log)
      const admitted = await admit(args, rules, present)
      if (!('cost' in admitted)) return setResultAndStopExecution(measured(admitted))
      const { cost, values } = admitted
      const { viewer } = args.contextValue as RequestContext
      setExecuteFn((given: ExecutionArgs) =>
        rules.costInFlight
          .run(viewer.userId, cost, () => execute(applyCoercedVariables(given, values)))
          .catch((error: unknown) => {
            if (error instanceof GraphQLError) return { errors: [present(error, viewer)] }
            throw error
          }),
      )
      return {
        onExecuteDone({ result, setResult }) {
          if ('data' in result || 'errors' in result)
            setResult(limitErrors({ ...measured(result), extensions: { ...result.extensions, cost } }))
        },
      }
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const refusedFor = checkStreamRequest(args.contextValue)
      const admitted = refusedFor ? { errors: [presentError(refusedFor, log)] } : await admit(args, rules, present)
      if (!('cost' in admitted)) return setResultAndStopExecution(countSubscription(admitted))
      const priced: StreamCost = args.contextValue
      priced.cost = admitted.cost
    },
  }
}

function beginOperation(args: ExecutionArgs, log: Log) {
  const operation = getOperationAST(args.document, args.operationName)
  return measureRequest(operation?.operation ?? 'query', (result, ms) => {
    if (operation) logOperation(log, args, { operation, result, ms })
  })
}

function demandAllowed({ viewer, params }: RequestContext & YogaInitialContext, document: DocumentNode): void {
  try {
    if (viewer === anonymous) demandLogInPage(document)
    if (viewer.run !== null) demandJobVerbs(document)
    demandOperation(document, params.operationName)
  } catch (error) {
    countInvalidRequest()
    throw error
  }
}

/**
 * Limits the size of a subscription's request over HTTP to that of a socket's message, because it stays in memory while
 * the stream is open.
 */
function checkStreamRequest(context: object): GraphQLError | null {
  const { request, bodyBytes = 0 } = context as { request?: Request; bodyBytes?: number }
  if (bodyBytes > limits.subscriptionBytesMax)
    return badRequest(
      `The request of a subscription has ${bodyBytes} bytes; the limit is ${limits.subscriptionBytesMax}`,
      413,
    )
  const accept = request?.headers.get('accept')
  if (accept == null || /text\/event-stream|text\/\*|\*\/\*/.test(accept)) return null
  return badRequest(
    'A subscription needs a WebSocket, or "Accept: text/event-stream"; multipart/mixed is not supported',
    406,
  )
}

/** Refuses a parameter that is not JSON. Without this check, yoga would report an internal error. */
function demandJson({ searchParams }: URL, name: string): void {
  try {
    JSON.parse(searchParams.get(name) || 'null')
  } catch {
    throw badRequest(`\`${name}\` is not valid JSON`)
  }
}

/**
 * Reads the stack of an error. Until then V8 keeps its frames, and so the request and its body; validation errors are
 * cached.
 */
function releaseFrames<Failure extends Error>(error: Failure): Failure {
  Reflect.get(error, 'stack')
  return error
}

/** The message of graphql-js after too many errors. graphql-js does not export a constant for it. */
const abortedMessage = 'Validation aborted.'

function describeInvalid(error: GraphQLError): GraphQLError {
  if (error.message === abortedMessage)
    return refusal(
      'QUERY_TOO_COMPLEX',
      'The document takes too long to validate, because all fields of the same name are compared with each other; ' +
        'select each field once',
    )
  error.extensions['code'] ??= 'GRAPHQL_VALIDATION_FAILED'
  error.extensions['http'] ??= { spec: true, status: 400 }
  return error
}

/** Removes suggested names, which would reveal the schema. */
function removeSuggestion(error: GraphQLError): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null, originalError = null, extensions } = error
  const message = error.message.replace(/ ?Did you mean .*$/s, '')
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions })
}

function forbidIntrospection(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      if (!['__schema', '__type'].includes(node.name.value)) return
      const message = 'Introspection is disabled on this server; use the published schema.graphql'
      context.reportError(new GraphQLError(message, { nodes: node }))
    },
  }
}

interface Admitted {
  cost: number
  /** The coerced variables. */
  values: Variables
}

async function admit(
  args: ExecutionArgs,
  { rateLimits, existing }: Pick<AdmissionRules, 'rateLimits' | 'existing'>,
  present: (error: GraphQLError, viewer: Viewer) => GraphQLError,
): Promise<Admitted | ExecutionResult> {
  const { schema, document, operationName, variableValues } = args
  const { viewer, facts } = args.contextValue as RequestContext
  const refused = (errors: readonly GraphQLError[]) => ({ errors: errors.map((error) => present(error, viewer)) })
  try {
    const operation = demandOperation(document, operationName)
    const coerced = await coerceVariables(schema, operation, variableValues ?? {})
    if ('errors' in coerced) return refused(coerced.errors)
    const { values } = coerced
    const costMax = viewer === anonymous ? limits.anonymousCostMax : limits.costMax
    const cost = computeCost({ schema, document, operation, values }, costMax, existing.counts)
    if (viewer === anonymous || facts.singleUser) return { cost, values }
    const fields = operation.operation === 'mutation' ? collectRootFields(document, operation) : []
    rateLimits.spend(viewer, { cost, submissions: countSubmissions({ schema, values }, fields) })
    return { cost, values }
  } catch (error) {
    if (error instanceof GraphQLError) return refused([error])
    throw error
  }
}

/** Finds the operation to execute. Without an operation name the document must contain only one. */
function demandOperation(document: DocumentNode, name: string | null | undefined): OperationDefinitionNode {
  const operation = getOperationAST(document, name || null)
  if (operation) return operation
  throw new GraphQLError(
    name
      ? `The document has no operation ${JSON.stringify(name)}`
      : 'The document must have one operation; name one of several by `operationName`',
    { extensions: { code: 'BAD_REQUEST', http: { spec: typeof (name ?? '') === 'string', status: 400 } } },
  )
}

/** Finds the first root field that is not allowed. */
function findDenied(document: DocumentNode, allowed: readonly string[]): string | undefined {
  const operations = document.definitions.filter((each) => each.kind === 'OperationDefinition')
  const names = operations.flatMap((operation) => collectRootFields(document, operation).map(({ name }) => name.value))
  return names.find((name) => ![...allowed, '__typename'].includes(name))
}

/**
 * Lets a caller without a token read fields of serverInfo, without variables, because nothing is coerced for such a
 * caller.
 */
function demandLogInPage(document: DocumentNode): void {
  const hasVariables = document.definitions.some(
    (each) => each.kind === 'OperationDefinition' && each.variableDefinitions?.length,
  )
  if (hasVariables || findDenied(document, ['serverInfo']) !== undefined)
    throw refusal('UNAUTHENTICATED', 'Authentication required; log in and send a token')
}

const jobVerbs = ['reportProgress', 'publishArtifact', 'saveClosure', 'createSnapshot'] as const

/** Lets a caller with the token of a run use four mutations, without introspection. */
function demandJobVerbs(document: DocumentNode): void {
  const denied = findDenied(document, jobVerbs)
  if (denied !== undefined)
    throw refusal('FORBIDDEN', `The token of a run permits only ${jobVerbs.join(', ')}, not ${denied}`)
}
