import { serverAudits } from 'graphql-http'
import { describe, expect, it } from 'vitest'
import { openTestServer } from '../../support/server.ts'

/** The audits of the GraphQL over HTTP working group, against a real server. */
const server = await openTestServer()

const audits = serverAudits({ url: () => `${server.url}/graphql`, fetchFn: fetch })

describe('the conformance tests of graphql-http', () => {
  it('are loaded completely', () => expect(audits.length).toBeGreaterThan(60))

  it.each(audits.map((audit) => [audit.name, audit] as const))('pass on this server: %s', async (_name, audit) => {
    const result = await audit.fn()
    expect(result, 'reason' in result ? result.reason : '').toMatchObject({ status: 'ok' })
  })
})
