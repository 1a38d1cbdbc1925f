import { execFile } from 'node:child_process'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { answerFacts, listenAsEngine } from './executors/container/fake-engine.ts'
import { makeDirectory } from './support/directory.ts'
import { root } from './support/sources.ts'

/** Runs `berth node check` as a user does. */

const directory = makeDirectory()
let address: string
beforeAll(async () => {
  address = `unix://${join(directory, 'engine.sock')}`
})

async function check(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = promisify(execFile)(process.execPath, [join(root, 'src/cli/main.ts'), 'node', 'check', ...args])
  return run.then(
    (done) => ({ code: 0, ...done }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
}

it('berth node check prints the configuration entry of a machine', async () => {
  const engine = await listenAsEngine(directory, answerFacts())
  const { code, stdout, stderr } = await check(address)
  await engine.close()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /^Docker 28\.2\.2 answers\.\n\n {2}cores {3}32\n {2}memory {2}251\.5 GiB\n {2}disk {4}unknown; pull ubuntu:22\.04 there\n {2}GPUs {4}not found; pull ubuntu:22\.04 there: /,
  )
  const name = hostname().split('.')[0]
  expect(stdout).toContain(`nodes:\n  - { name: ${name}, engine: "${address}", cpu: 32, memoryGib: 251 }\n`)
})

it('berth node check reports which repairs a machine needs, and exits with 1', async () => {
  const engine = await listenAsEngine(directory, answerFacts({ version: '19.3.1' }))
  expect(await check(address)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('is too old: update it to 20.10'),
  })
  await engine.close()
  expect(await check(address)).toMatchObject({ code: 1, stderr: expect.stringContaining(`berth: ${address}: `) })
})

it('berth node check rejects an invalid address, and a TCP address without TLS', async () => {
  expect(await check('gpu1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('engine: gpu1 is not the address of an engine; for example ssh://'),
  })
  expect(await check('tcp://gpu3.lab:2376')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('tls: is missing: a program that reaches an engine without TLS is root'),
  })
})
