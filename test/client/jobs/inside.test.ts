import { expect, it } from 'vitest'
import type { Connection } from '../../../src/client/connection/connection.ts'
import { RequestFailed } from '../../../src/client/connection/failure.ts'
import { createInside } from '../../../src/client/jobs/inside.ts'

/** Problems of the mutations of a job are failures of the call, as in the command line and in handlers. */

const problem = (code: string) => ({ __typename: 'Problem', code, message: `it is ${code}`, retryable: false })
const published = { publishArtifact: { __typename: 'PublishArtifactSuccess', artifact: { id: 'artifact_1' } } }

function insideWith(...answers: (object | Error)[]) {
  const left = answers.values()
  let nowMs = 0
  const request = async () => {
    const answer = left.next().value ?? new Error('One request too many')
    if (answer instanceof Error) throw answer
    return answer
  }
  return createInside({ request } as unknown as Connection, {
    patienceMs: 60_000,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms
    },
  })
}

it('if the answer is a problem, a call inside a job fails with its code and message, without a retry', async () => {
  const failed = (code: string) => ({ name: 'RequestFailed', code, message: `it is ${code}` })
  await expect(insideWith({ reportProgress: problem('FORBIDDEN') }).reportProgress({})).rejects.toMatchObject(
    failed('FORBIDDEN'),
  )
  await expect(insideWith({ saveClosure: problem('INVALID_INPUT') }).saveClosure({})).rejects.toMatchObject(
    failed('INVALID_INPUT'),
  )
})

it('a call inside a job is retried while the server is unavailable', async () => {
  const inside = insideWith(
    { publishArtifact: problem('UNAVAILABLE') },
    new RequestFailed('UNREACHABLE', 'nobody'),
    published,
  )
  expect(await inside.publishArtifact({ name: 'a', mediaType: 'text/plain', body: 'x' })).toBe('artifact_1')
})
