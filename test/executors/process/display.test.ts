import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sendSignal } from '../../../src/executors/local/processes.ts'
import { displayScript } from '../../../src/executors/process/display.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'

/** The first process of the container of a display, with imitations of the X servers and of nvidia-smi. */

let directory: string
let child: ChildProcess | null

beforeEach(async () => {
  directory = makeDirectory()
  await mkdir(join(directory, '.X11-unix'))
  child = null
})
afterEach(async () => {
  // Kills the whole group, as the end of a container would: the first process may have ended before other ones.
  if (child?.pid) sendSignal(-child.pid, 'SIGKILL')
})

const inFolder = (name: string) => join(directory, '.X11-unix', name)

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(directory, name), `#!/bin/sh\n${script}`)
  await chmod(join(directory, name), 0o755)
}

/** `gpu`: the argument of display.sh. */
function start(gpu: string) {
  const script = displayScript.replace(/\/(tmp|dev)\//g, `${directory}/`)
  const env = { PATH: `${directory}:/usr/bin:/bin` }
  const spawned = spawn('/bin/sh', ['-c', script.replaceAll(`>${directory}/null`, '>/dev/null'), 'berth', gpu], {
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child = spawned
  const ended = once(spawned, 'exit').then(([code]) => code as number)
  return { ended, said: text(spawned.stderr) }
}

const serves = `echo "$@" >"$0.asked"; echo 0 >&3; exec 3>&-; exec sleep 600`
const answers = () => until(() => existsSync(inFolder('berth')), { what: 'the display answers' })
const asked = async (name: string) => (await readFile(join(directory, `${name}.asked`), 'utf8')).trim()

test('a display has one screen and no network, and ends when the pipe of the job closes', async () => {
  await program('Xvfb', serves)
  const { ended } = start('')
  await answers()
  const rest = '-ac -noreset -nolisten tcp -extension MIT-SHM -displayfd 3'
  expect(await asked('Xvfb')).toBe(`:0 -screen 0 1280x960x24 ${rest}`)
  const pipe = await open(inFolder('berth'), 'r+')
  await pipe.write('\n')
  expect(child?.exitCode).toBeNull()
  await pipe.close()
  expect(await ended).toBe(0)
})

test('a display ends although the job closed the pipe before the display read its line', async () => {
  await program('Xvfb', serves)
  const { ended } = start('')
  await answers()
  await writeFile(inFolder('berth'), '\n', { flag: 'r+' })
  expect(await ended).toBe(0)
})

test.each([
  ['before it is ready', 'echo no screens >&2; exit 4', 4],
  ['before it is ready, with exit code 0', 'exit 0', 1],
  ['later', 'echo 0 >&3; exit 0', 1],
])('an X server that ends %s counts as failed', async (_, script, code) => {
  await program('Xvfb', script)
  const { ended } = start('')
  expect(await ended).toBe(code)
})

test('a display that gets TERM ends with a failure', async () => {
  await program('Xvfb', serves)
  const { ended } = start('')
  await answers()
  child?.kill('SIGTERM')
  expect(await ended).toBe(143)
})

const bus = `case "$2" in GPU-a|0) echo 00000000:3B:00.0;; *) echo 00010000:81:1f.1;; esac; echo "$@" >"$0.asked"`

test('a GPU is identified by its bus id', async () => {
  await program('nvidia-smi', bus)
  await program('Xorg', serves)
  start('0')
  await answers()
  const configuration = join(directory, 'berth-xorg.conf')
  expect(await asked('Xorg')).toMatch(`:0 vt7 -novtswitch -sharevts -config ${configuration} -logfile `)
  const written = await readFile(configuration, 'utf8')
  expect(written).toContain('BusID "PCI:59@0:0:0"')
  expect(written).toContain('Virtual 1280 960')
})

test('a display uses the GPU that the job names', async () => {
  await program('nvidia-smi', bus)
  await program('Xorg', serves)
  start('TOLD')
  await until(() => existsSync(inFolder('gpu')), { what: 'it asks for the GPU' })
  await writeFile(inFolder('gpu'), 'GPU-b\n')
  await answers()
  expect(await asked('nvidia-smi')).toBe('-i GPU-b --query-gpu=pci.bus_id --format=csv,noheader')
  expect(await readFile(join(directory, 'berth-xorg.conf'), 'utf8')).toContain('BusID "PCI:129@65536:31:1"')
})

test('the failure names a missing GPU or a missing nvidia-smi', async () => {
  const told = start('TOLD')
  await until(() => existsSync(inFolder('gpu')), { what: 'it asks for the GPU' })
  await writeFile(inFolder('gpu'), '')
  expect([await told.ended, await told.said]).toEqual([1, 'nvidia-smi reports no GPU in the container of the job\n'])
  const alone = start('0')
  expect(await alone.ended).toBe(127)
  expect(await alone.said).toContain('nvidia-smi')
})
