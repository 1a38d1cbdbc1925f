import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Ended } from '../support/command-line.ts'
import { until } from '../support/until.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { useBerth } from './server-and-cli.ts'

/** Webhooks on the command line, against a server with its configuration. */
let receiver: WebhookReceiver
let status = 204
const secret = `whsec_${randomBytes(32).toString('base64')}`

beforeAll(async () => {
  receiver = await startReceiver(secret, () => ({ status }))
})
afterAll(() => receiver[Symbol.asyncDispose]())
const setup = useBerth({
  config: () => `
server: { publicUrl: "https://berth.example.org" }
pools: [{ name: sim, executor: simulated, nodes: [{ name: n1, cpu: 4, memoryGib: 8 }] }]
webhooks:
  - { name: ci, url: "${receiver.url}?token=hidden", secret: "\${HOOK_SECRET}", events: [job.succeeded], filter: { name: "a*" } }
`,
  env: { HOOK_SECRET: secret, BERTH_LOG_LEVEL: 'debug' },
})

const outputs: string[] = []
async function berth(...args: string[]): Promise<Ended> {
  const ended = await setup.berth(...args)
  outputs.push(ended.stdout, ended.stderr)
  return ended
}

it('berth webhooks lists, tests, resends and enables webhooks, without their secrets', async () => {
  const target = new URL(receiver.url).origin
  expect((await berth('webhooks')).stdout).toMatch(new RegExp(`ci +enabled +${target} +0 +0 +0`))
  expect(await berth('webhooks', 'test', 'ci')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/webhook\.test +- +DELIVERED/),
  })
  expect(receiver.messages.map(({ content }) => content)).toEqual([
    { type: 'webhook.test', timestamp: expect.any(String), data: { webhook: 'ci' } },
  ])

  status = 410
  const environment = ['--env', 'SIM_DURATION_MS=10']
  for (const name of ['apple', 'pear'])
    expect(await berth('submit', '--wait', '--name', name, ...environment, '--', 'x')).toMatchObject({ code: 0 })
  await until(async () => (await berth('webhooks')).stdout.includes('disabled'), { what: 'the webhook is disabled' })
  const shown = await berth('webhooks', 'show', 'ci')
  expect(shown.stdout).toContain('the receiver returned HTTP status 410')
  expect(shown.stdout).toMatch(/msg_\w+ +job\.succeeded +job_\w+ +PENDING +1 .*HTTP status 410/)
  expect(await berth('webhooks', 'test', 'ci')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The webhook is disabled; enable it with enableWebhook first'),
  })

  status = 500
  expect(await berth('webhooks', 'enable', 'ci')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ci +enabled/),
  })
  expect(await berth('webhooks', 'test', 'ci')).toMatchObject({ code: 1, stderr: 'berth: HTTP status 500\n' })
  // The receiver accepts nothing yet: a retry of its own would take a delivery away from those that are resent.
  expect(await berth('webhooks', 'resend', 'ci')).toMatchObject({ code: 0, stdout: '2\n' })
  status = 204
  const find = (type: string) => receiver.messages.findLast(({ content }) => content.type === type)
  await until(async () => (await berth('webhooks', 'show', 'ci', '-o', 'json')).stdout.includes('"pending": 0'), {
    what: 'all are delivered',
  })
  const message = find('job.succeeded')
  expect(message?.content.data).toMatchObject({
    name: 'apple',
    state: 'SUCCEEDED',
    exitCode: 0,
    previousState: 'RUNNING',
  })
  expect(await berth('webhooks', 'resend', 'ci', message?.id ?? '')).toMatchObject({ code: 0, stdout: '1\n' })
  expect(await berth('webhooks', 'resend', 'ci', 'msg_none')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('The webhook ci has no delivery msg_none'),
  })
  expect((await berth('audit', 'ls')).stdout).toMatch(
    /webhook\.resend +ci.*webhook\.enable +ci.*webhook\.disable +ci.*webhook\.test +ci/s,
  )
  expect([...outputs, setup.server.output()].join('\n')).not.toMatch(/whsec_|hidden/)
})
