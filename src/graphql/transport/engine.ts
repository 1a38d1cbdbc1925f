import { createYoga } from 'graphql-yoga'
import type { Viewer } from '../../domain/access.ts'
import { type AdmissionRules, admissionPlugin } from '../admission/admission.ts'
import { createDocumentCaches } from '../admission/parsed-documents.ts'
import { limits } from '../caller-limits.ts'
import { presentError } from '../errors.ts'
import { type StreamTransport, subscriptionsPlugin } from '../live/subscriptions.ts'
import { createContext, type RequestContext, type Rooms } from '../rows/context.ts'
import { schema } from '../schema/schema.ts'

export type GraphqlEngine = ReturnType<typeof createGraphqlEngine>

export interface Requester extends StreamTransport {
  viewer: Viewer
  bodyBytes?: number
}

/** Executes documents after admission, in the same way for HTTP, SSE and WebSocket. */
export function createGraphqlEngine(rooms: Rooms, admission: AdmissionRules) {
  return createYoga<Requester, RequestContext>({
    schema,
    context: ({ viewer }) => createContext(rooms, viewer),
    plugins: [admissionPlugin(admission, rooms.log), subscriptionsPlugin(rooms)],
    maskedErrors: { maskError: (error) => presentError(error, rooms.log) },
    parserAndValidationCache: createDocumentCaches(),
    maxRequestBodySize: limits.bodyBytesMax,
    batching: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    multipart: false,
  })
}
