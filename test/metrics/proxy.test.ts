import { afterAll, describe, expect, it } from 'vitest'
import { openServer } from '../support/api.ts'
import { hasProgram, startNginx } from '../support/balancers.ts'
import { mutate, personWith } from '../support/people.ts'

const secret = 'the-first-token-of-this-test'
const pools = [{ name: 'sim', executor: 'simulated', nodes: [{ name: 'n1', cpu: 8, memoryGib: 8 }] }]

describe.skipIf(!hasProgram('nginx'))('metrics through nginx on loopback', async () => {
  const { server } = await openServer(JSON.stringify({ pools }), { BERTH_BOOTSTRAP_TOKEN: secret })
  const nginx = await startNginx(Number(new URL(server.url).port))
  afterAll(() => nginx[Symbol.asyncDispose]())

  const read = (headers: Record<string, string> = {}) => fetch(`${nginx.url}/metrics`, { headers })

  it('require a token', async () => {
    const refused = await read()
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await refused.text()).not.toContain('berth_jobs')
    expect((await read({ authorization: 'Bearer wrong' })).status).toBe(401)
  })

  it('can be read with a token of the scope READ, and nginx passes its request id on', async () => {
    const admin = personWith(server.url, secret)
    const { user } = await mutate(admin, 'createUser', {
      input: { name: 'vic', level: 'VIEWER' },
      wanted: 'user { id }',
    })
    const input = { name: 'scrapes', userId: user.id, scopes: ['READ'] }
    const { secret: token } = await mutate(admin, 'createToken', { input, wanted: 'secret' })
    const answered = await read({ authorization: `Bearer ${token}` })
    expect([answered.status, answered.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(answered.headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/)
    expect(await answered.text()).toContain('berth_jobs{')
  })
})
