import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { webhookEventTypes } from '../../src/domain/webhooks/event-types.ts'
import { signMessage } from '../../src/webhooks/signature.ts'
import { freePort } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const page = await readFile(join(root, 'docs/webhooks.md'), 'utf8')

test('docs/webhooks.md lists every type of event', () => {
  const listed = [...page.matchAll(/`((?:job|condition)\.[a-z_]+)`/g)].map(([, type]) => type)
  expect(new Set(listed)).toEqual(new Set(webhookEventTypes))
})

test('the relay of docs/webhooks.md forwards events to Slack and refuses others', async () => {
  const texts: string[] = []
  const slack = createServer(async (request, response) => {
    texts.push(JSON.parse(await text(request)).text)
    response.end('ok')
  })
  await once(slack.listen(0, '127.0.0.1'), 'listening')
  const directory = makeDirectory()
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'relay.mjs'), /```js\n(\/\/ relay\.mjs\n[\s\S]*?)```/.exec(page)?.[1] ?? '')
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const port = String(await freePort())
  const SLACK_URL = `http://127.0.0.1:${(slack.address() as AddressInfo).port}/`
  const relay = spawn(process.execPath, ['relay.mjs'], {
    cwd: directory,
    env: { PORT: port, SLACK_URL, BERTH_WEBHOOK_SECRET: secret },
    stdio: 'inherit',
  })
  const post = (content: object, key = secret) => {
    const body = JSON.stringify(content)
    const headers = signMessage({ id: 'msg_1', body, atMs: Date.now() }, [key])
    return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers }).then(({ status }) => status)
  }
  try {
    const ready = () => post({ type: 'webhook.test', data: {} }).catch(() => 0)
    expect(await until(ready, { what: 'the relay answers' })).toBe(204)
    const data = {
      jobId: 'job_1',
      name: 'train',
      user: 'ann',
      state: 'FAILED',
      reason: 'OOM_KILLED',
      url: 'https://b/1',
    }
    expect(await post({ type: 'job.failed', data })).toBe(204)
    expect(await post({ type: 'condition.over', data: { condition: 'NODE_LOST' } })).toBe(204)
    expect(await post({ type: 'job.failed', data }, `whsec_${randomBytes(32).toString('base64')}`)).toBe(401)
    const lines = ['train of ann: FAILED (OOM_KILLED) https://b/1', 'NODE_LOST is over']
    expect(texts).toEqual(['Berth can reach this channel.', ...lines])
  } finally {
    relay.kill()
    slack.close()
  }
})
