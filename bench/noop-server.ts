import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'

/** The ceiling of a submission: the same schema on the same yoga, with a resolver that does nothing. Tells its URL by IPC. */
const schema = buildSchema(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'))
const submitJob = schema.getMutationType()?.getFields()['submitJob']
if (!submitJob) throw new Error('schema.graphql has no submitJob')
const answer = {
  __typename: 'SubmitJobSuccess',
  idempotentHit: false,
  warnings: [],
  job: { id: 'job_0', state: 'QUEUED' },
}
submitJob.resolve = () => answer

const yoga = createYoga({ schema, batching: false, cors: false, graphiql: false, landingPage: false, logging: false })
const server = createServer(yoga)
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('disconnect', () => process.exit())
